"""Run folders: written by one writer for all backends, read by report, compare and export."""

from tailback.results.results import Results

__all__ = ["Results"]
