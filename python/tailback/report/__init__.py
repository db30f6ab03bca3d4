"""The report: one HTML file that opens offline, and the same charts for notebooks and images."""

from tailback.report.plots import Plots
from tailback.report.write import default_path, write_pngs, write_report

__all__ = ["Plots", "default_path", "write_pngs", "write_report"]
