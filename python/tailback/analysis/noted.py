"""What stands in the way of taking results at their word: told after a run, and in the report."""

from tailback.analysis.lockout import lockouts_said
from tailback.analysis.memory import memory_said
from tailback.analysis.nothing import nothing_said
from tailback.analysis.outliers import outliers_said
from tailback.analysis.repeated import repeated_said
from tailback.analysis.view import View


def noted(view: View) -> list[str]:
    """Sentences, each with what would help."""
    return [
        *nothing_said(view),
        *repeated_said(view),
        *lockouts_said(view),
        *memory_said(view),
        *outliers_said(view),
    ]
