"""Results in other programs' formats."""

from tailback.export.flent import export_flent

__all__ = ["export_flent"]
