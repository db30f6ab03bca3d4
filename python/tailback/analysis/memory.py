"""Whether a host's kernel was short of memory for TCP."""

import polars as pl

from tailback.analysis.view import View

PRESSURE = "TcpExt.TCPMemoryPressures"
"""How often all sockets together came to hold more than `tcp_mem` (Linux, /proc/net/netstat)."""


def memory_said(view: View) -> list[str]:
    """A sentence on the hosts that were, and on the remedy; nothing if none is known to be."""
    counters = view.optional("counters")
    if "counter" not in counters.columns:
        return []
    short = counters.filter((pl.col("counter") == PRESSURE) & (pl.col("value") > 0))
    hosts = short.get_column("host").unique().sort().to_list()
    if not hosts:
        return []
    named = ", ".join(hosts[:3]) + (f" and {len(hosts) - 3} more" if len(hosts) > 3 else "")
    why = "throws away what comes out of order and lets no window grow"
    remedy = "net.ipv4.tcp_mem of these machines"
    if view.results.manifest["backend"] != "hosts":
        remedy = "kernel.memory, or kernel.sysctl.net.ipv4.tcp_mem"
    return [
        f"TCP of {named} was short of memory: it then {why}. Hosts with gigabytes do not come to "
        f"that: raise {remedy}."
    ]
