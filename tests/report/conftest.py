"""Every chart that a report's test draws is held against the schema of Vega-Lite."""

import pytest

from tailback.report.charts.data import AnyChart
from tailback.report.page.model import Figure


@pytest.fixture(autouse=True)
def _charts_are_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = Figure.of

    def checked(
        key: str, chart: AnyChart, title: str = "", caption: str = "", *, half: bool = False
    ) -> Figure:
        chart.to_dict()
        return draw(key, chart, title, caption, half=half)

    monkeypatch.setattr(Figure, "of", checked)
