"""Values written as TOML read back the same."""

import tomllib

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
