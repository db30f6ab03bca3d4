"""The closed forms against published tables, and one measured point end to end."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from tailback.cli.report import command
from tailback.reproduce.response.formulas import FORMS, padhye, reno, scalable
from tailback.reproduce.response.links import jain
from tailback.reproduce.response.measure import flow, run_all, under_loss
from tailback.reproduce.response.page import keep, kept
from tailback.reproduce.response.run import Found, Point, ResponseFunctions

# RFC 9438 section 5.1 (tables 1 and 2): RTT, p, Reno, HighSpeed, CUBIC. RFC 9438 takes 1.2 for
# the square root of 3/2.
RFC_9438 = [
    (0.1, 1e-2, 12, 12, 12),
    (0.1, 1e-4, 120, 263, 187),
    (0.1, 1e-5, 379, 1795, 1054),
    (0.1, 1e-6, 1200, 12280, 5926),
    (0.01, 1e-4, 120, 263, 120),
    (0.01, 1e-6, 1200, 12280, 1200),
]


@pytest.mark.parametrize(("rtt_s", "p", "reno", "highspeed", "cubic"), RFC_9438)
def test_windows_of_rfc_9438(
    rtt_s: float, p: float, reno: float, highspeed: float, cubic: float
) -> None:
    assert FORMS["reno"].window(p, rtt_s) == pytest.approx(reno, rel=0.025)
    assert FORMS["highspeed"].window(p, rtt_s) == pytest.approx(highspeed, rel=0.025)
    assert FORMS["cubic"].window(p, rtt_s) == pytest.approx(cubic, rel=0.025)


def test_periods_of_scalable_give_the_logarithm() -> None:
    # Growth by a hundredth, a cut of an eighth: 1 / (100 p ln(8/7)).
    assert scalable(1e-5, 0.1) == pytest.approx(7489, rel=0.01)


def test_padhye_is_mathis_while_losses_are_rare_and_less_beyond() -> None:
    rare = padhye(1e-6, 0.1, timeout_s=0.3)
    assert rare == pytest.approx(FORMS["reno"].window(1e-6, 0.1), rel=0.01)
    assert padhye(1e-2, 0.1, timeout_s=0.3) < 0.95 * FORMS["reno"].window(1e-2, 0.1)


def test_jain_of_even_and_of_one_share() -> None:
    assert jain([3, 3, 3]) == pytest.approx(1)
    assert jain([5, 0, 0, 0]) == pytest.approx(0.25)


@pytest.mark.parametrize("name", ["reno", "cubic", "scalable", "illinois"])
def test_windows_measured_at_one_in_a_thousand(name: str) -> None:
    expected = FORMS[name].window(1e-3, 0.01)
    config = under_loss(flow(name, 0.01, **FORMS[name].settings), 1e-3, round(expected))
    [result] = run_all([config], jobs=1)
    [one] = result["flows"]
    assert one["timeouts"] == 0
    assert one["window_mean"] == pytest.approx(expected, rel=0.12)


def test_cubic_in_whole_segments_leaves_its_origin_late() -> None:
    # C = 0.4 of a segment: 1.357 s. From 180 segments with beta 0.8 the curve is back after 4.48 s,
    # so 5.84 s are 58.4 round trips of 172 segments in the mean.
    least = FORMS["cubic-2.1"].least
    assert least is not None
    assert least(1 / (58.4 * 172), 0.1) == pytest.approx(172, rel=0.01)


def test_hybla_counts_whole_128ths() -> None:
    # rho = 4: 16 segments a round trip while 2048 / window is exact enough, 8 where it is below 2.
    few, many = FORMS["hybla"].window(1e-4, 0.1), FORMS["hybla"].window(1e-6, 0.1)
    assert few == pytest.approx(490, rel=0.08)
    assert many < 0.5 * 4899


def test_what_was_measured_is_kept_and_drawn_again(tmp_path: Path) -> None:
    found = ResponseFunctions(
        [
            Point("reno", 0.01, p, reno(p, 0.01), 0.98 * reno(p, 0.01), 0, "Mathis", reno(p, 0.01))
            for p in (1e-3, 1e-4)
        ],
        [Found("cubic: share", (1.0, 6.0), 0.3, "between two bounds")],
    )
    keep(found, tmp_path)
    assert kept(tmp_path) == found
    assert kept(tmp_path / "other") is None
    # `tailback report` draws it from what was kept.
    result = CliRunner().invoke(command, [str(tmp_path)])
    assert result.exit_code == 0, result.output
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "1 of 1 mean errors are at most 10%; 0 of 1 quantities on links" in html
    for cell in ("122 / 120 (-2%)", "cubic: share", "1 to 6", "outside", 'id="spec-windows"'):
        assert cell in html
