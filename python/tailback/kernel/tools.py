"""What building a kernel needs on the machine."""

import platform
import shutil
import subprocess
import tempfile
from pathlib import Path

from tailback.errors import InputError

PACKAGES = {
    "gcc": "gcc",
    "strip": "binutils",
    "make": "make",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "tar": "tar",
    "xz": "xz-utils",
}
"""Program and the Debian package that has it."""

APT_PACKAGES = {"apt-get": "apt", "dpkg-deb": "dpkg"}
"""Needed beyond these to fetch the source."""

FREE_BYTES = 1_000_000_000
"""What a build takes: 0.5 GB of source, 0.1 GB of objects, 0.2 GB of package (measured)."""


def require(work: Path, *, apt: bool) -> None:
    """Raises `InputError` with all that is missing at once."""
    problems = []
    machine = platform.machine()
    if machine != "x86_64":
        problems.append(f"User-Mode Linux runs on x86-64 only, and this machine is {machine}")
    wanted = PACKAGES | (APT_PACKAGES if apt else {})
    missing = {program: package for program, package in wanted.items() if not shutil.which(program)}
    if "gcc" not in missing and not _has_headers():
        missing["the C library's headers"] = "libc6-dev"
    fetchable = not (set(missing) & set(APT_PACKAGES))
    if missing:
        problems.append(
            f"missing: {', '.join(missing)}; on Debian, as root: "
            f"apt-get install {' '.join(missing.values())}"
        )
    if not fetchable:
        problems.append("without apt give the source: `--source TREE|TARBALL`")
    free = shutil.disk_usage(work).free
    if free < FREE_BYTES:
        problems.append(
            f"{work} has {free / 1e9:.1f} GB free, and a build takes {FREE_BYTES / 1e9:.1f} GB; "
            "XDG_CACHE_HOME names another place"
        )
    if problems:
        raise InputError("a kernel cannot be built here:\n  " + "\n  ".join(problems))


def _has_headers() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "try.c"
        source.write_text("#include <stdio.h>\nint main(void) { return 0; }\n")
        call = ["gcc", "-c", "-o", str(source.with_suffix(".o")), str(source)]
        return subprocess.run(call, capture_output=True, check=False).returncode == 0
