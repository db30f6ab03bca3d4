"""The page of several folders."""

import pytest

from tailback.report.page.several import taken_s


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([], 0.0),
        ([(10.0, 12.0), (12.0, 15.0)], 5.0),
        ([(20.0, 30.0), (5.0, 10.0)], 15.0),
        ([(0.0, 100.0), (10.0, 20.0), (90.0, 120.0)], 120.0),
    ],
)
def test_what_ran_side_by_side_took_the_time_of_the_longer(
    spans: list[tuple[float, float]], expected: float
) -> None:
    assert taken_s(spans) == expected
