"""Whether modelled hosts are like the kernels that they are compared with."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tailback.compare.side import Side

_LIKE_KERNELS = "uml-virtio"
"""The preset of a modelled host that has what a kernel in virtual time has."""


def unlike_kernels(a: "Side", b: "Side") -> str:
    """Return what to do about hosts of the simulator that are not as the kernels of the other side.

    Kernels in virtual time join frames and have an interrupt every so often: a round trip among
    them takes twice as long as among hosts that take no time. Empty where there is nothing to say.
    """
    for modelled, other in ((a, b), (b, a)):
        if (modelled.backend, other.backend) == ("sim", "kernel"):
            host = modelled.scenario.get("host")
            values = dict(host) if isinstance(host, dict) else {"preset": host}
            presets = modelled.scenario.get("preset", {}).get("host", {})
            values = presets.get(values.get("preset"), {}) | values
            if not (values.get("gro") and values.get("interrupt_gap")):
                return (
                    f"Kernels join frames and wait between interrupts, hosts of {modelled.name} "
                    f"do not do both: --set host={_LIKE_KERNELS} there compares TCP alone."
                )
    return ""
