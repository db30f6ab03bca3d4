"""The machine and the versions behind a result, for the manifest."""

import os
import platform
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from tailback import _native


def cores() -> int:
    """The CPU cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def machine() -> dict[str, Any]:
    """CPU model, cores, memory and operating system; no names of hosts or users."""
    return {
        "cpu": _cpu_model(),
        "cores": cores(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
    }


def versions() -> dict[str, str]:
    """Versions of what made the tables."""
    return {
        "tailback": _native.__version__,
        "python": platform.python_version(),
        "polars": pl.__version__,
    }


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor())
