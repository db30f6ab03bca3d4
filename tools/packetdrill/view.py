"""A script's own view of the machine.

Scripts set sysctls and module parameters, replace queueing disciplines and read counters. Each run
gets mount and network namespaces of its own, in which a folder of files stands in for /proc/sys/net
and /sys/module, and programs that would look at or change the network are stand-ins. Nothing that a
script does reaches the machine. Without root this needs unprivileged user namespaces.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

PROFILE = "linux-7.2"

# Module parameters that scripts set (net/ipv4/tcp_cubic.c), with their defaults.
_MODULES = {"tcp_cubic/parameters/hystart_detect": "3"}

# Stand-ins for programs: what they are asked for is kept in the view, where the stack reads it.
_PROGRAMS = {
    "tc": 'echo "$*" >>"$TAILBACK_SYSCTLS/tc"',
    "ip": 'echo "$*" >>"$TAILBACK_SYSCTLS/ip"',
    "ethtool": ":",
    "nstat": """state=$TAILBACK_SYSCTLS/nstat
touch "$state.now" "$state.seen"
case "$*" in
  *s*) awk '{ printf "%-32s %-16d 0.0\\n", $1, $2 }' "$state.now" ;;
  *n*) ;;
  *) awk -v file="$state.seen" 'BEGIN { while ((getline < file) > 0) seen[$1] = $2 }
          $2 > seen[$1] { printf "%-32s %-16d 0.0\\n", $1, $2 - seen[$1] }' "$state.now" ;;
esac
case "$*" in *s*) ;; *) cp "$state.now" "$state.seen" ;; esac""",
    "sysctl": """status=0
for word; do
  case $word in
    -*) ;;
    *=*) path=/proc/sys/$(echo "${word%%=*}" | tr . /)
         if [ -w "$path" ]; then echo "${word#*=}" >"$path"; else status=1; fi ;;
    *) cat "/proc/sys/$(echo "$word" | tr . /)" || status=1 ;;
  esac
done
exit $status""",
}


class ViewError(Exception):
    """A view of a script's own cannot be made here."""


def namespaces() -> list[str]:
    """The command that runs another in namespaces of its own."""
    for options in (["--user", "--map-root-user"], []):
        command = ["unshare", *options, "--mount", "--net"]
        if (
            shutil.which("unshare")
            and subprocess.run(
                [*command, "mount", "--bind", "/proc/sys/net", "/proc/sys/net"],
                capture_output=True,
                check=False,
            ).returncode
            == 0
        ):
            return command
    raise ViewError(
        "no namespaces: run as root, or allow unprivileged user namespaces "
        "(sysctl kernel.unprivileged_userns_clone=1 or user.max_user_namespaces > 0)"
    )


def fill(folder: Path, writer: Path) -> None:
    """Writes the files of a view; `writer` is the program packetdrill-view."""
    made = subprocess.run([writer, PROFILE, folder], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise ViewError(made.stderr.strip())
    for name, value in _MODULES.items():
        path = folder / "module" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value + "\n")
    programs = folder / "bin"
    programs.mkdir()
    for name, text in _PROGRAMS.items():
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)


def inside(folder: Path, command: list[str]) -> list[str]:
    """The command that runs another inside a view, within namespaces."""
    view = shlex.quote(str(folder))
    mounts = (
        f"mount --bind {view}/net /proc/sys/net && mount --bind {view}/module /sys/module && "
        'exec "$@"'
    )
    return ["sh", "-c", mounts, "sh", *command]


def environment(folder: Path, library: Path) -> dict[str, str]:
    """The environment of a run."""
    return {
        **os.environ,
        "PATH": f"{folder / 'bin'}:{os.environ.get('PATH', '/usr/bin:/bin')}",
        "TAILBACK_SYSCTLS": str(folder),
        "LD_PRELOAD": str(library),
    }
