"""Builds the native module anew, guided by a profile of its own: `make guided`.

Three steps: the benchmark's program is built so that it counts which way each branch goes, runs the
cases below, and with what it counted the native module and the program are built once more. What
runs together then lies together. Results are the same to the bit; only time differs. Profile and
program share the simulator's crates with the module, compiled alike, so that names agree.
"""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
GUIDED = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "guided"
RAW, PROFILE = GUIDED / "raw", GUIDED / "merged.profdata"
BUILT = ("-p", "tailback-py", "-p", "tailback-sim", "--lib", "--example", "case")
"""Both in one build: features of shared dependencies are part of the crates' names."""


@dataclass(frozen=True)
class Training:
    """A scenario file under the project's root, of whose runs the first is run, shortened."""

    file: str
    overrides: tuple[str, ...] = ()


SCE = '{ kind = "linear", probability_rise = 1.0, mem_start_point = 0.0 }'
TRAINING = [
    Training("benches/cases/incast-1500.toml"),
    Training("benches/cases/incast-9000.toml"),
    Training("benches/cases/dctcp-2to1-25g.toml", ("workload.duration=200ms",)),
    Training("benches/cases/dctcp-gro-2to1-25g.toml", ("workload.duration=200ms",)),
    Training("benches/cases/fat-tree-8.toml"),
    Training("benches/cases/long-fat.toml", ("workload.duration=5s",)),
    Training("benches/cases/stars-100.toml", ("workload.duration=2ms",)),
    *(
        Training(
            "scenarios/incast/incast-8mb.toml",
            (f'sweep.switch=["{switch}"]', "sweep.servers=[12]", "workload.iterations=5"),
        )
        for switch in ("arista-7124s", "cisco-nexus-5010")
    ),
    *(
        Training(
            "scenarios/ecn-switch/ecn-switch.toml",
            (
                f'sweep.test=[{{ label = {{ senders = {senders} }}, set = {{ "workload.senders" = '
                f'{senders}, "workload.duration" = "200ms" }} }}]',
                'sweep.marking=[{ label = { marking = "sce" }, set = { "host.ce_to_ect1" = true, '
                f'"network.switch.marking" = {SCE} }} }}]',
            ),
        )
        for senders in (1, 3)
    ),
    Training("scenarios/lambda/lambda-tcp.toml", ("workload.duration=2s",)),
    Training("scenarios/lambda/lambda-udp.toml", ("workload.duration=200ms",)),
    Training("scenarios/node-pairs/node-pairs-30min.toml", ("workload.duration=500ms",)),
]
"""What users run most: the studies, and the benchmark's cases. Some 5 s."""


class NotFoundError(Exception):
    """`llvm-profdata` of the compiler's LLVM is not on this machine."""


def main() -> int:
    """Builds; answers the exit status."""
    try:
        profdata = llvm_profdata()
    except NotFoundError as problem:
        print(f"guided: {problem}", file=sys.stderr)
        return 1
    print("Counting which way branches go", flush=True)
    shutil.rmtree(RAW, ignore_errors=True)
    cargo(f"-Cprofile-generate={RAW}")
    # The counts of what ran while building (build scripts) are none of the simulator's.
    shutil.rmtree(RAW, ignore_errors=True)
    for one in TRAINING:
        run(case(), one)
    merge = [profdata, "merge", "-o", str(PROFILE), *map(str, sorted(RAW.glob("*.profraw")))]
    subprocess.run(merge, check=True)
    print("Building by it", flush=True)
    cargo(use := f"-Cprofile-use={PROFILE}")
    maturin = [sys.executable, "-m", "maturin", "develop", "--release", "--locked", "--quiet"]
    subprocess.run([*maturin, "--target", host()], cwd=ROOT, check=True, env=environment(use))
    return 0


def case() -> Path:
    """The benchmark's program as it is built here."""
    return GUIDED / host() / "release" / "examples" / "case"


def run(program: Path, one: Training) -> None:
    """Run one case."""
    command = [str(program), str(ROOT / one.file), *one.overrides]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    if done.returncode:
        message = f"{one.file} {' '.join(one.overrides)}: {done.stderr}"
        raise RuntimeError(message)


def cargo(flag: str) -> None:
    """Build module and program with a flag for the compiler; build scripts go without."""
    command = ["cargo", "build", "--release", "--locked", "--quiet", *BUILT, "--target", host()]
    subprocess.run(command, cwd=ROOT, check=True, env=environment(flag))


def environment(flag: str) -> dict[str, str]:
    """This process's, with the flag, a folder of its own, and the virtual environment."""
    # A make above has a jobserver that is closed to cargo.
    kept = {k: v for k, v in os.environ.items() if k not in {"MAKEFLAGS", "MFLAGS", "CONDA_PREFIX"}}
    flags = f"{kept.get('RUSTFLAGS', '')} {flag}".strip()
    return kept | {
        "RUSTFLAGS": flags,
        "CARGO_TARGET_DIR": str(GUIDED),
        "VIRTUAL_ENV": str(ROOT / ".venv"),
        "PIP_QUIET": "1",
    }


def rustc(*arguments: str) -> str:
    """What the compiler prints of itself."""
    done = subprocess.run(["rustc", *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def host() -> str:
    """The compiler's own target."""
    return told("host")


def told(what: str) -> str:
    """A line of `rustc -vV`."""
    found = re.search(rf"^{what}: (.+)$", rustc("-vV"), re.MULTILINE)
    if found is None:
        message = f"rustc -vV says no {what}"
        raise RuntimeError(message)
    return found[1]


def llvm_profdata() -> str:
    """The program that puts profiles together: rustup's, or the distribution's of that version.

    Raises:
        NotFoundError: there is none; says what to install.
    """
    major = told("LLVM version").split(".")[0]
    own = Path(rustc("--print", "sysroot")) / "lib/rustlib" / host() / "bin/llvm-profdata"
    for candidate in (str(own), f"llvm-profdata-{major}", "llvm-profdata"):
        found = shutil.which(candidate)
        if found and version(found) == major:
            return found
    message = (
        f"llvm-profdata of LLVM {major}, the compiler's, is missing: "
        f"`rustup component add llvm-tools`, or as root `apt-get install llvm-{major}`"
    )
    raise NotFoundError(message)


def version(profdata: str) -> str | None:
    """The LLVM that an llvm-profdata is of, its first number."""
    done = subprocess.run([profdata, "--version"], check=False, capture_output=True, text=True)
    found = re.search(r"LLVM version (\d+)", done.stdout)
    return found[1] if found else None


if __name__ == "__main__":
    sys.exit(main())
