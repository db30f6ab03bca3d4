"""Packetdrill scripts: where they are, and which concern what the stack models."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

# What is not modelled, by what a script that needs it contains.
NOT_MODELLED = (
    ("TCP Fast Open", r"FASTOPEN|\bTFO_|\btcp_fastopen|<[^>]*\bFO\b"),
    ("zero-copy sending", r"ZEROCOPY|\bSO_EE_ORIGIN_ZEROCOPY"),
    ("TCP MD5 signatures", r"<[^>]*\bmd5\b|MD5SIG"),
    ("epoll", r"\bepoll_(create|ctl|wait)"),
    ("splice", r"\bsplice\("),
    ("sendfile", r"\bsendfile\("),
    ("time stamping of packets", r"TIMESTAMPING|\bSCM_TSTAMP"),
    ("PSP", r"\bpsp\b|\bPSP"),
    ("ioctl", r"\bioctl\("),
)

_FLAG = re.compile(r"^--(\w+)=(\S+)", re.MULTILINE)
_COMMENT = re.compile(r"//.*")


@dataclass(frozen=True)
class Script:
    """One script."""

    path: Path
    name: str
    text: str

    @property
    def not_applicable(self) -> str | None:
        """The feature it needs that is not modelled, or none."""
        text = _COMMENT.sub("", self.text)
        for feature, pattern in NOT_MODELLED:
            if re.search(pattern, text):
                return feature
        return None

    def flags(self) -> dict[str, str]:
        """The packetdrill options that it sets itself."""
        return dict(_FLAG.findall(self.text))


def find(folder: Path) -> list[Script]:
    """All scripts below a folder (or the one script given), by name."""
    paths: Iterable[Path] = [folder] if folder.is_file() else sorted(folder.rglob("*.pkt"))
    base = folder.parent if folder.is_file() else folder
    return [
        Script(path.resolve(), str(path.relative_to(base)), path.read_text(errors="replace"))
        for path in paths
    ]
