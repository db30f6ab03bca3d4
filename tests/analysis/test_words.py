"""Numbers in words."""

import pytest

from tailback.analysis.words import counted, data_unit, decimals, natural, percent


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.186, "+18.6 %"), (-0.186, "-18.6 %"), (0.0, "0.0 %"), (-0.0004, "0.0 %"), (None, "n/a")],
)
def test_what_is_nothing_has_no_sign(value: float | None, said: str) -> None:
    assert percent(value, signed=True) == said


def test_names_with_numbers_are_sorted_as_people_do() -> None:
    names = ["host10 > a", "host9 > b", "left2", "host9 > a", "7", "host"]
    assert sorted(names, key=natural) == [
        "7",
        "host",
        "host9 > a",
        "host9 > b",
        "host10 > a",
        "left2",
    ]


def test_one_and_several() -> None:
    assert [counted(n, "run") for n in (0, 1, 2, 46_000)] == [
        "0 runs",
        "1 run",
        "2 runs",
        "46,000 runs",
    ]


def test_units_and_decimals_show_three_digits() -> None:
    assert [data_unit(n)[0] for n in (0, 62_916, 3_200_000, 137_000_000)] == [
        "kB",
        "kB",
        "MB",
        "GB",
    ]
    assert [decimals(value, 1) for value in (0.168, 4081.9, 0.0, 3e-9)] == [3, 1, 1, 6]
