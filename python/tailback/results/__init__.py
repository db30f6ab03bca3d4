"""Run folders: written by one writer for all backends, read by report, compare and export."""

from tailback.results.results import Results
from tailback.results.so_far import SoFar

__all__ = ["Results", "SoFar"]
