"""Whether repetitions repeat anything: where nothing is drawn by lot each is the same run again."""

from tailback.analysis.view import View
from tailback.analysis.words import counted


def repeated_said(view: View) -> list[str]:
    """A sentence where the repetitions of every point are alike in all there is."""
    results = view.results
    summary = results.summary
    if "repetition" not in summary.columns:
        return []
    repetitions = summary.get_column("repetition").n_unique()
    points = summary.drop("run", "repetition")
    each = points.select(results.parameters).n_unique() if results.parameters else 1
    if repetitions < 2 or points.n_unique() > each:
        return []
    said = (
        f"The {counted(repetitions, 'repetition')} of each point are alike to the last digit:"
        " nothing that matters is drawn by lot."
    )
    if results.manifest["backend"] == "sim":
        said += (
            ' A few microseconds of chance in hosts (host.interrupt_delay = "5us",'
            ' host.interrupt_jitter = "5us") make them differ.'
        )
    return [said]
