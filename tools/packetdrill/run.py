"""Runs scripts and says how each went."""

from __future__ import annotations

import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import view
from scripts import Script

# Seconds of the machine's time after which a script is given up; most take a tenth.
_LIMIT_S = 60

# Addresses and sizes of each variant, as the kernel's selftests give them (ksft_runner.sh).
_VARIANTS = {
    "ipv4": [
        "--ip_version=ipv4",
        "--local_ip=192.168.0.1",
        "--gateway_ip=192.168.0.1",
        "--netmask_ip=255.255.0.0",
        "--remote_ip=192.0.2.1",
        "-DCMSG_LEVEL_IP=SOL_IP",
        "-DCMSG_TYPE_RECVERR=IP_RECVERR",
    ],
    "ipv4-mapped-ipv6": [
        "--ip_version=ipv4-mapped-ipv6",
        "--local_ip=192.168.0.1",
        "--gateway_ip=192.168.0.1",
        "--netmask_ip=255.255.0.0",
        "--remote_ip=192.0.2.1",
        "-DCMSG_LEVEL_IP=SOL_IPV6",
        "-DCMSG_TYPE_RECVERR=IPV6_RECVERR",
    ],
    "ipv6": [
        "--ip_version=ipv6",
        "--mtu=1520",
        "--local_ip=fd3d:0a0b:17d6::1",
        "--gateway_ip=fd3d:0a0b:17d6:8888::1",
        "--remote_ip=fd3d:fa7b:d17d::1",
        "-DCMSG_LEVEL_IP=SOL_IPV6",
        "-DCMSG_TYPE_RECVERR=IPV6_RECVERR",
    ],
}
VARIANTS = tuple(_VARIANTS)


@dataclass(frozen=True)
class Tools:
    """The programs of a run."""

    packetdrill: Path
    library: Path
    view_writer: Path
    namespaces: list[str]


@dataclass(frozen=True)
class Result:
    """How a script went: passed, failed or not applicable, and why."""

    script: Script
    status: str
    reason: str = ""


def variants(script: Script, wanted: tuple[str, ...]) -> tuple[str, ...]:
    """The variants of the wanted ones that a script is for."""
    own = script.flags()
    version = own.get("ip_version")
    if version is None and "local_ip" in own:
        version = "ipv6" if ":" in own["local_ip"] else "ipv4"
    return wanted if version is None else (version,)


def _so_flags(script: Script, variant: str) -> list[str]:
    """What the shared object is told: the interface's MTU, the size of segments in a packet."""
    flags = ["mtu=1520"] if variant == "ipv6" else []
    mss = script.flags().get("mss")
    if mss is not None:
        flags.append(f"mss={mss}")
    return [f"--so_flags={','.join(flags)}"] if flags else []


def _first_difference(error: str, script: Script) -> str:
    """What packetdrill says, without the script's path, on one line."""
    text = error.replace(str(script.path), script.path.name)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " | ".join(re.sub(r"\s+", " ", line) for line in lines[:6])


def run_one(script: Script, variant: str, tools: Tools) -> str | None:
    """Runs a script; answers why it failed, or none."""
    with tempfile.TemporaryDirectory(prefix="tailback-packetdrill-") as name:
        folder = Path(name)
        view.fill(folder, tools.view_writer)
        command = [
            str(tools.packetdrill),
            f"--so_filename={tools.library}",
            *_VARIANTS[variant],
            *_so_flags(script, variant),
            script.path.name,
        ]
        try:
            done = subprocess.run(
                [*tools.namespaces, *view.inside(folder, command)],
                cwd=script.path.parent,
                env=view.environment(folder, tools.library),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_LIMIT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"no end after {_LIMIT_S} s"
    if done.returncode == 0:
        return None
    why = _first_difference(done.stderr or done.stdout, script)
    return why or f"exit status {done.returncode}"


def run_script(script: Script, wanted: tuple[str, ...], tools: Tools) -> Result:
    """Runs a script in all its variants; the first failure counts."""
    reason = script.not_applicable
    if reason is not None:
        return Result(script, "not applicable", reason)
    for variant in variants(script, wanted):
        failure = run_one(script, variant, tools)
        if failure is not None:
            return Result(script, "failed", f"{variant}: {failure}")
    return Result(script, "passed")


def run_all(
    scripts: list[Script], wanted: tuple[str, ...], tools: Tools, jobs: int
) -> list[Result]:
    """Runs scripts, several at a time; results in the scripts' order."""
    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(lambda script: run_script(script, wanted, tools), scripts))
