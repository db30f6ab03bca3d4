"""The findings of the lambda-rings study, held against the scenarios `lambda-…`.

Source: Marian, Freedman, Birman, Weatherspoon (Cornell). Its results are figures; what is held here
is what they were said to show, with this project's own limits.
"""

from itertools import pairwise

import polars as pl

from tailback.analysis.places import PLACE, losses
from tailback.analysis.view import View
from tailback.analysis.words import number, percent
from tailback.compare.checks import Check

_LOSS = "loss_percent"
_GOODPUT = "goodput_mbps_mean"
_TINY = "tiny"


def udp_checks(view: View) -> list[Check]:
    """Return what was found of UDP, held against a run."""
    rows = view.points
    if "interrupts" not in rows.columns:
        return []
    return [
        _nothing_in_the_network(rows),
        _balanced_small(rows),
        _balanced_large(rows),
        _grows(rows),
        _larger_is_worse(rows),
        _bound_low(rows),
    ]


def tcp_checks(view: View) -> list[Check]:
    """Return what was found of TCP, held against a run."""
    rows = view.points
    if not {"ring", "flows", "tcp_congestion_control"} <= set(rows.columns):
        return []
    return [
        _single_alike(rows),
        _single_lossless(view),
        *(_falls(rows, flows) for flows in (1, 4)),
        _like_a_cable(rows),
        *_in_rings(view),
    ]


def batching_checks(view: View) -> list[Check]:
    """Return the comb that throttling puts on arrivals, held against a run."""
    arrivals = view.optional("arrivals")
    if "throttling" not in arrivals.columns:
        return []
    gaps = arrivals.filter(pl.col("packet") > 0)
    return [_comb(gaps), _smooth(gaps)]


def direct_checks(view: View) -> list[Check]:
    """Return the two figures over a direct cable that the machine was fitted to."""
    rows = view.points
    if "receiving" not in rows.columns:
        return []
    checks = []
    for how, mbps in (("napi and throttling", 3000), ("an interrupt each", 1900)):
        here = rows.filter(pl.col("receiving") == how)
        claim, published = f"TCP over a direct cable, {how} (Mb/s)", f"about {mbps}"
        if here.is_empty():
            checks.append(Check.not_run(claim, published, "fitted to it"))
        else:
            checks.append(Check.fitted(claim, published, number(_mean(here, _GOODPUT), 4)))
    return checks


def _mean(rows: pl.DataFrame, column: str) -> float:
    return float(str(rows.get_column(column).mean()))


def _most(rows: pl.DataFrame, column: str) -> float:
    return float(str(rows.get_column(column).max()))


def _rate_mbps() -> pl.Expr:
    return pl.col("rate").str.extract(r"([\d.]+)").cast(pl.Float64)


def _nothing_in_the_network(rows: pl.DataFrame) -> Check:
    lost = sum(float(rows.get_column(place).sum()) for place in ("lost_link", "lost_switch"))
    return Check.judged(
        "Datagrams lost in the network", "virtually none", number(lost), "none", holds=lost == 0
    )


def _balanced_small(rows: pl.DataFrame) -> Check:
    claim = "irqbalance, 1 MB: datagrams lost in the socket's buffer, all there is"
    published, limit = "some, all in the socket's buffer", "above 0, and nowhere else"
    here = rows.filter(pl.col("interrupts") == "irqbalance", pl.col("socket_buffer") == "1MiB")
    if here.is_empty():
        return Check.not_run(claim, published, limit)
    socket, everywhere = (
        float(here.get_column(c).sum()) for c in ("lost_socket", "datagrams_lost")
    )
    holds = socket > 0 and socket == everywhere
    return Check.judged(
        claim, published, f"{number(socket)} of {number(everywhere)}", limit, holds=holds
    )


def _balanced_large(rows: pl.DataFrame) -> Check:
    claim, limit = "irqbalance, 2 and 4 MB: loss, greatest of all cells", "none"
    here = rows.filter(pl.col("interrupts") == "irqbalance", pl.col("socket_buffer") != "1MiB")
    if here.is_empty():
        return Check.not_run(claim, "none", limit)
    most = _most(here, _LOSS)
    return Check.judged(claim, "none", f"{number(most)} %", limit, holds=most == 0)


def _bound(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.filter(pl.col("interrupts") == "bound").with_columns(_rate_mbps().alias("mbps"))


def _grows(rows: pl.DataFrame) -> Check:
    claim = "Bound to one CPU: loss grows with rate (mean of rings and buffers, by rate)"
    published, limit = "grows", "never falls, and is above 0 at 2400 Mb/s"
    here = _bound(rows)
    if here.get_column("mbps").n_unique() < 2:
        return Check.not_run(claim, published, limit)
    by_rate = here.group_by("mbps").agg(pl.col(_LOSS).mean()).sort("mbps")[_LOSS].to_list()
    said = ", ".join(number(loss) for loss in by_rate) + " %"
    holds = by_rate == sorted(by_rate) and by_rate[-1] > 0
    return Check.judged(claim, published, said, limit, holds=holds)


def _larger_is_worse(rows: pl.DataFrame) -> Check:
    claim = "Bound, 2400 Mb/s: the larger the buffer, the more is lost (1, 2, 4 MB)"
    published, limit = "livelock, worse with larger buffers", "each above the one before"
    here = _bound(rows).filter(pl.col("mbps") == 2400)
    by_size = here.group_by("socket_buffer").agg(pl.col(_LOSS).mean()).sort("socket_buffer")
    losses = by_size[_LOSS].to_list()
    if len(losses) < 2:
        return Check.not_run(claim, published, limit)
    said = ", ".join(number(loss) for loss in losses) + " %"
    holds = all(a < b for a, b in pairwise(losses))
    return Check.judged(claim, published, said, limit, holds=holds)


def _bound_low(rows: pl.DataFrame) -> Check:
    claim = "Bound, 4 MB, below 2400 Mb/s: loss, greatest of all cells"
    here = _bound(rows).filter(pl.col("mbps") < 2400, pl.col("socket_buffer") == "4MiB")
    if here.is_empty():
        return Check.not_run(claim, "near zero", "fitted to it")
    return Check.fitted(claim, "near zero", f"{number(_most(here, _LOSS))} %")


def _single_alike(rows: pl.DataFrame) -> Check:
    """That TCP has irqbalance was chosen with this in sight."""
    claim = "One flow: all controls but vegas alike (least over greatest, worst ring)"
    published = "alike"
    here = rows.filter(pl.col("flows") == 1, pl.col("tcp_congestion_control") != "vegas")
    if here.get_column("tcp_congestion_control").n_unique() < 2:
        return Check.not_run(claim, published, "fitted to it")
    rings = here.group_by("ring").agg((pl.col(_GOODPUT).min() / pl.col(_GOODPUT).max()).alias("r"))
    worst = float(str(rings.get_column("r").min()))
    return Check.fitted(claim, published, number(worst))


def _single_lossless(view: View) -> Check:
    """That the cards have LRO was chosen with this in sight."""
    claim = "One flow: frames lost, all runs"
    single = view.results.summary.filter(pl.col("flows") == 1)
    if single.is_empty():
        return Check.not_run(claim, "none", "fitted to it")
    drops = view.optional("drops")
    lost = data = 0.0
    if not drops.is_empty():
        rows = drops.join(single.select("run"), on="run", how="semi")
        lost, data = (float(rows[column].sum()) for column in ("frames", "data_frames"))
    said = f"{number(data)} with data, {number(lost - data)} without" if lost else "0"
    return Check.fitted(claim, "none", said)


def _falls(rows: pl.DataFrame, flows: int) -> Check:
    """That the cards have LRO was chosen with what one flow does in sight, and with that only."""
    claim = f"Throughput falls with the path's length, flows: {flows} (mean of controls, Mb/s)"
    published, limit = "falls", "each ring below the one before"
    rings = ("tiny", "small", "medium", "large")
    here = rows.filter(pl.col("flows") == flows)
    found = [here.filter(pl.col("ring") == ring) for ring in rings]
    if any(frame.is_empty() for frame in found):
        return Check.not_run(claim, published, limit)
    means = [_mean(frame, _GOODPUT) for frame in found]
    said = ", ".join(number(mean, 4) for mean in means)
    if flows == 1:
        return Check.fitted(claim, published, said)
    holds = all(a > b for a, b in pairwise(means))
    return Check.judged(claim, published, said, limit, holds=holds)


def _like_a_cable(rows: pl.DataFrame) -> Check:
    claim = "Four flows over the tiny ring reach what a direct cable gives (median control, Mb/s)"
    published, limit = "about 3000", "within 10 %"
    here = rows.filter(pl.col("flows") == 4, pl.col("ring") == _TINY)
    if here.is_empty():
        return Check.not_run(claim, published, limit)
    median = float(str(here.get_column(_GOODPUT).median()))
    holds = abs(median / 3000 - 1) <= 0.1
    return Check.judged(claim, published, number(median, 4), limit, holds=holds)


def _in_rings(view: View) -> list[Check]:
    only = "Four flows: share of all losses that is in receive rings"
    acks = (
        "Four flows: frames without data lost at the sender, over data frames lost at the receiver"
    )
    found = losses(view)
    four = view.results.summary.filter(pl.col("flows") == 4)
    if four.is_empty():
        return [Check.not_run(only, "all", "all"), Check.not_run(acks, "far more", "above 2")]
    if found is None:
        return [
            Check.judged(only, "all", "nothing was lost", "all", holds=False),
            Check.judged(acks, "far more", "nothing was lost", "above 2", holds=False),
        ]
    # What the sender's queue refuses TCP keeps and sends later; the study counts it nowhere.
    lost = found.filter(~pl.col(PLACE).str.ends_with("send queue"))
    rows = lost.join(four.select("run"), on="run", how="semi")
    total = float(rows["frames"].sum())
    ring = rows.filter(pl.col(PLACE).str.ends_with("receive ring"))
    share = float(ring["frames"].sum()) / max(total, 1.0)
    at_sender = float(ring.filter(pl.col(PLACE).str.starts_with("sender"))["ack_frames"].sum())
    at_receiver = float(ring.filter(pl.col(PLACE).str.starts_with("receiver"))["data_frames"].sum())
    ratio = at_sender / max(at_receiver, 1.0)
    said = f"{number(at_sender)} and {number(at_receiver)}"
    return [
        Check.judged(only, "all", percent(share), "all", holds=total > 0 and share == 1.0),
        Check.judged(acks, "far more", said, "above 2", holds=ratio > 2),
    ]


def _comb(gaps: pl.DataFrame) -> Check:
    claim = "Throttling on: packets come together or a multiple of its interval apart"
    published, limit = "a comb of 125 us", "at least 90 % of the gaps"
    here = gaps.filter(pl.col("throttling") == "on")
    if here.is_empty():
        return Check.not_run(claim, published, limit)
    gap = pl.col("gap_us")
    off = (gap - (gap / 125).round() * 125).abs()
    share = float(str(here.select((off < 10).mean()).item()))
    return Check.judged(claim, published, percent(share, decimals=0), limit, holds=share >= 0.9)


def _smooth(gaps: pl.DataFrame) -> Check:
    claim = "Throttling off: gaps as sent, 117.6 us"
    published, limit = "smooth", "at least 90 % within 5 us"
    here = gaps.filter(pl.col("throttling") == "off")
    if here.is_empty():
        return Check.not_run(claim, published, limit)
    share = float(str(here.select(((pl.col("gap_us") - 117.6).abs() < 5).mean()).item()))
    return Check.judged(claim, published, percent(share, decimals=0), limit, holds=share >= 0.9)
