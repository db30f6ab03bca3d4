"""What the tables of a run folder say: axes, groups, findings, distributions, anatomy.

Everything here takes frames and gives frames or plain values; drawing is `tailback.report`'s.
"""

from tailback.analysis.axes import Axes, Axis
from tailback.analysis.view import View

__all__ = ["Axes", "Axis", "View"]
