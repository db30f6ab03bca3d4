"""Whether the runs brought anything at all."""

from tailback.analysis.view import View

_WHOLE = "data_bytes_total"


def nothing_said(view: View) -> list[str]:
    """A sentence where no run received any data, so that no metric says anything.

    Where packets are counted, the share that was lost says it.
    """
    summary = view.results.summary
    if _WHOLE not in summary.columns or view.programs or view.has("loss_percent"):
        return []
    if summary.get_column(_WHOLE).sum():
        return []
    kind = view.results.manifest["scenario"]["workload"]["kind"]
    runs = "the run" if summary.height == 1 else "any run"
    if kind == "flows" and not summary.get_column("flows").sum():
        return [f"No flow began in {runs}: its duration is short for such a load."]
    if kind == "request-response":
        return [f"No request was answered in {runs}."]
    return [f"Nothing was received in {runs}."]
