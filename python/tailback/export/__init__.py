"""Results in other programs' formats."""

from tailback.export.captures import export_pcapng
from tailback.export.flent import export_flent
from tailback.export.iperf3 import export_iperf3

__all__ = ["export_flent", "export_iperf3", "export_pcapng"]
