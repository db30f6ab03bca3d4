"""Values written as TOML read back the same."""

import tomllib

import numpy as np
import polars as pl
import pytest

from tailback.errors import InputError
from tailback.toml_value import toml_document, toml_value


@pytest.mark.parametrize(
    "value",
    [
        True,
        -3,
        0.25,
        1e-9,
        float("inf"),
        "10Gbit",
        'say "so"\n\\ \x7f é 🚦',
        [],
        [2, 9, 23],
        {"preset": "arista-7124s", "latency": "500ns"},
        {"a key": {"nested": [{"x": 1}]}},
    ],
)
def test_a_value_reads_back(value: object) -> None:
    assert tomllib.loads(f"value = {toml_value(value)}") == {"value": value}


def test_a_document_reads_back() -> None:
    document = {"name": "mine", "network": {"hosts": 3}, "sweep": {"network.link.rate": ["1Gbit"]}}
    assert tomllib.loads(toml_document(document)) == document


def test_a_type_that_toml_has_not_is_refused() -> None:
    with pytest.raises(InputError, match="no values of type NoneType"):
        toml_value({"latency": None})


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.int64(3), 3),
        (np.float64(0.25), 0.25),
        (np.bool_(True), True),
        (np.arange(1, 4), [1, 2, 3]),
        ([np.int32(1), 2], [1, 2]),
        (pl.Series([2, 9]), [2, 9]),
    ],
)
def test_numbers_and_lists_of_others_are_what_they_hold(value: object, plain: object) -> None:
    assert tomllib.loads(f"value = {toml_value(value)}") == {"value": plain}


def test_what_holds_itself_is_refused() -> None:
    within: dict[str, object] = {}
    within["network"] = within
    with pytest.raises(InputError, match="nested too deeply"):
        toml_document({"network": within})
