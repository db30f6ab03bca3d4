"""What works with a kernel on this machine: found by booting it, not by reading about it."""

import json
import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tailback.errors import InputError
from tailback.kernel import cache, guest

BOOT_S = 60
"""Wall-clock seconds after which a guest that has not ended is given up."""

SLEEP_S = 1000
"""Virtual seconds that a guest sleeps to show that its time is not the machine's."""

QDISCS = (
    "fq", "fq_codel", "codel", "pie", "fq_pie", "cake", "dualpi2", "red limit 1mb avpkt 1500",
    "sfq", "pfifo_fast", "tbf rate 1gbit burst 64kb latency 10ms", "netem delay 1ms", "htb", "hfsc",
    "prio", "drr", "qfq", "hhf", "sfb", "choke limit 1000 bandwidth 1gbit", "ets bands 3 strict 3",
)  # fmt: skip
"""Each is set at the root of a device, in tc's words."""

MEMORY = Path("/dev/shm")  # noqa: S108 - asked for by name: guests' memory goes there
TMPFS = 0x01021994
"""Magic number of a tmpfs (include/uapi/linux/magic.h)."""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    what: str
    works: bool
    found: str
    needed: bool = True
    """Whether runs need it."""


def check(wanted: str | None) -> list[Finding]:
    """Boots the kernel of that name, version or path, and says what works."""
    if wanted is not None and Path(wanted).is_file():
        # Without a folder in its name it would be looked for in $PATH.
        program = Path(wanted).resolve()
    else:
        program = cache.find(wanted).program
    findings = [Finding("kernel", works=True, found=f"{_version(program)}, {program}")]
    said = _help(program)
    findings.append(
        Finding(
            "time travel",
            "time-travel" in said,
            "built in"
            if "time-travel" in said
            else "not built in: virtual time is impossible; `tailback kernel build` makes one",
        )
    )
    findings.append(
        Finding(
            "seeded entropy",
            "entropy_seed" in said,
            "built in" if "entropy_seed" in said else "not built in: runs will not repeat exactly",
            needed=False,
        )
    )
    findings.append(_memory())
    with tempfile.TemporaryDirectory(prefix="tailback-") as folder:
        findings += _boots(program, Path(folder), time_travel="time-travel" in said)
    return findings


def _version(program: Path) -> str:
    return _output([str(program), "--version"]).strip() or "of unknown version"


def _help(program: Path) -> str:
    return _output([str(program), "--help"])


def _output(command: list[str]) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False, timeout=BOOT_S
        )
    except subprocess.TimeoutExpired as error:
        raise InputError(
            f"{command[0]}: it says nothing for {BOOT_S} s: it is no kernel"
        ) from error
    except OSError as error:
        raise InputError(f"{command[0]}: it cannot be run: {error.strerror}") from error
    return done.stdout + done.stderr


def _memory() -> Finding:
    """Guests' memory must not be written to a disk."""
    kind = _output(["stat", "-f", "-c", "%t", str(MEMORY)]).strip()
    works = MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and int(kind or "0", 16) == TMPFS
    if not works:
        return Finding("memory", works, f"there is no tmpfs at {MEMORY} that you can write to")
    free = shutil.disk_usage(MEMORY).free
    return Finding("memory", works, f"{MEMORY}, {free / 1e9:.1f} GB free")


def _boots(program: Path, run: Path, *, time_travel: bool) -> list[Finding]:
    tc = guest.has("tc")
    guest.prepare(run / "root", ["tc"] if tc else [])
    reads = ["/proc/sys/net/ipv4/tcp_available_congestion_control"]
    tasks: list[list[str]] = [["/init", "--show", *reads]]
    tasks += [
        ["tc", "qdisc", "replace", "dev", "dummy0", "root", *qdisc.split()]
        for qdisc in QDISCS
        if tc
    ]
    findings = []
    seccomp = _boot(program, run, "seccomp", tasks, "seccomp=on")
    findings.append(
        Finding(
            "seccomp",
            seccomp.booted,
            f"boots and ends in {seccomp.wall_s:.2f} s"
            if seccomp.booted
            else "does not boot in this mode; hosts use ptrace, which is slower",
            needed=False,
        )
    )
    ptrace = _boot(program, run, "ptrace", tasks, "seccomp=off")
    findings.append(
        Finding(
            "ptrace",
            ptrace.booted,
            f"boots and ends in {ptrace.wall_s:.2f} s" if ptrace.booted else ptrace.said,
            needed=not seccomp.booted,
        )
    )
    booted = seccomp if seccomp.booted else ptrace
    if not booted.booted:
        return findings
    if time_travel:
        sleep = [["/init", "--sleep", str(SLEEP_S)]]
        slept = _boot(program, run, "sleep", sleep, "time-travel=inf-cpu")
        works = slept.booted and slept.wall_s < SLEEP_S / 10
        found = f"{SLEEP_S} s of virtual time in {slept.wall_s:.2f} s" if works else slept.said
        findings.append(Finding("virtual time", works, found))
    names = booted.output(0).split()
    findings.append(Finding("congestion controls", "cubic" in names, " ".join(names)))
    if tc:
        failed = [
            f"{qdisc.split()[0]} ({booted.output(number).strip()})"
            for number, qdisc in enumerate(QDISCS, start=1)
            if booted.status(number) != 0
        ]
        names = [qdisc.split()[0] for qdisc in QDISCS]
        found = f"fail: {'; '.join(failed)}" if failed else " ".join(names)
        findings.append(Finding("qdiscs", not failed, found, needed=False))
    else:
        found = "not tried: no tc on this machine (Debian package iproute2)"
        findings.append(Finding("qdiscs", works=False, found=found, needed=False))
    return findings


@dataclass(frozen=True)
class _Boot:
    """A guest that ran some programs and ended."""

    folder: Path
    wall_s: float
    said: str
    statuses: dict[str, int]
    booted: bool

    def output(self, number: int) -> str:
        log = self.folder / f"command-{number}.log"
        return log.read_text(errors="replace") if log.exists() else ""

    def status(self, number: int) -> int | None:
        return self.statuses.get(f"command-{number}.log")


def _boot(program: Path, run: Path, name: str, commands: list[list[str]], *options: str) -> _Boot:
    folder = run / "host" / name
    folder.mkdir(parents=True)
    config = {
        "host": name,
        "interface": {
            "name": "dummy0",
            "address": "10.0.0.1",
            "prefix_length": 8,
            "mtu_bytes": 1500,
        },
        "tasks": [{"kind": "command", "argv": argv} for argv in commands],
    }
    (folder / "config.json").write_text(json.dumps(config))
    line = [
        str(program), "mem=64M", f"umid={name}", f"uml_dir={run}/uml/",
        "root=/dev/root", "rootfstype=hostfs", f"hostfs={run}", "rootflags=root", "ro",
        "init=/init", "con=null", "con0=null,fd:1", "ssl=null", "quiet", "panic=-1",
        f"TAILBACK_HOST={name}", *options,
    ]  # fmt: skip
    start = time.monotonic()
    with subprocess.Popen(
        line,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        process_group=0,
    ) as process:
        try:
            said, _ = process.communicate(timeout=BOOT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            said = f"still running after {BOOT_S} s"
        except BaseException:
            # Ctrl-C is not for its group.
            os.killpg(process.pid, 9)
            raise
    wall_s = time.monotonic() - start
    results = folder / "results.jsonl"
    lines = results.read_text().splitlines() if results.exists() else []
    records = [json.loads(line) for line in lines]
    return _Boot(
        folder=folder,
        wall_s=wall_s,
        said=" ".join(said.split()[-40:]) or "it says nothing",
        statuses={r["log"]: r["status"] for r in records if r["kind"] == "command"},
        booted=bool(records) and records[-1]["kind"] == "done",
    )
