"""Fitting: which values of named parameters predict rows of a table best.

    from tailback.fit import fit, write_overlay

    found = fit(
        "incast-8mb",
        to="published:incast-8MB",
        rows=["switch=arista-7124s", "servers=2..23"],
        params=["preset.switch.arista-7124s.buffer.shared=900KB..1400KB"],
        iterations=100,
    )
    write_overlay(found, Path("shared.toml"))

Parameters and their grid are in `parameter`, the rows in `target`, the error in `objective`,
the runs in `trials`, the optimiser in `search`.
"""

from tailback.fit.fitting import Progress, fit
from tailback.fit.overlay import overlay_text, write_overlay
from tailback.fit.result import Fit, Fitted
from tailback.fit.sensitivity import Sensitivity, Step

__all__ = [
    "Fit",
    "Fitted",
    "Progress",
    "Sensitivity",
    "Step",
    "fit",
    "overlay_text",
    "write_overlay",
]
