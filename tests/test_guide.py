"""What the guides show is so: their scenarios are sound, the first one's table is what it gives."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import tailback
from helpers import Command

DOCS = Path(__file__).parent.parent / "docs"


def shown(kind: str, page: Path) -> list[str]:
    """The blocks of a kind on a page."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    return [text for of, text in blocks if of == kind]


def scenarios() -> Iterator[tuple[str, str]]:
    """The blocks that are whole scenarios, with their pages."""
    for page in sorted(DOCS.rglob("*.md")):
        for text in shown("toml", page):
            if re.search(r"^name = ", text, re.MULTILINE) and "[workload]" in text:
                yield page, text


def write_files(page: Path) -> None:
    """Writes what the page's programs write, and those that name their file, into the folder where
    we are.
    """
    for program in shown("python", page):
        if '", "w")' in program:
            subprocess.run([sys.executable, "-c", program], check=True)
        if named := re.match(r"# (\w+\.py)\n", program):
            Path(named[1]).write_text(program)


def cells(text: str, first: str) -> list[str]:
    """The cells of a page's line of a table that begins with this one."""
    [line] = [line for line in text.splitlines() if line.startswith(f"| {first} |")]
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.mark.parametrize(
    ("page", "text"), [pytest.param(page, text, id=page.name) for page, text in scenarios()]
)
def test_a_scenario_of_the_docs_is_sound(
    page: Path, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_files(page)
    found = tailback.Scenario(text)
    assert found.check() == []
    assert found.check_programs() == []


def test_programs_of_the_page_give_the_tables_that_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = DOCS / "guide" / "own-congestion-control.md"
    write_files(page)
    aimd, copa = (tailback.Scenario(text) for of, text in scenarios() if of == page)
    shared = tailback.run(aimd, out="aimd").summary
    assert shared.height == 4
    for row in shared.iter_rows(named=True):
        [_, goodput, formula] = cells(page.read_text(), str(row["beta"]))
        assert goodput == f"{row['goodput_mbps_mean']:.1f} Mb/s"
        assert row["goodput_mbps_mean"] == pytest.approx(float(formula.split()[0]), rel=0.035)
    results = tailback.run(copa, out="copa")
    rtt_ms = pl.col("rtt_us") / 1e3
    looks = results.table("samples").filter(
        pl.col("rtt_us") > 0, pl.col("host").str.starts_with("left")
    )
    by = "tcp_congestion_control"
    seen = looks.group_by(by).agg(
        rtt_ms.median().alias("median"), rtt_ms.quantile(0.95).alias("p95")
    )
    told = results.summary.join(seen, on=by)
    assert told.height == 4
    for row in told.iter_rows(named=True):
        assert cells(page.read_text(), f"`{row[by]}`")[1:] == [
            f"{row['goodput_mbps_mean']:.1f} Mb/s",
            f"{row['median']:.1f} ms",
            f"{row['p95']:.1f} ms",
            f"{row['jain_index']:.3f}",
            f"{row['switch_drops_mean']:.0f}",
        ]


def test_queues_of_the_page_give_the_tables_that_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = DOCS / "guide" / "own-queue.md"
    write_files(page)
    pi2, fair = (tailback.Scenario(text) for of, text in scenarios() if of == page)
    results = tailback.run(pi2, out="pi2")
    looks = results.table("samples").filter(
        pl.col("rtt_us") > 0, pl.col("host").str.starts_with("left")
    )
    rtt_ms = pl.col("rtt_us") / 1e3
    seen = looks.group_by("queue").agg(
        rtt_ms.mean().alias("mean"), rtt_ms.quantile(0.95).alias("p95")
    )
    told = results.summary.join(seen, on="queue")
    assert told.height == 4
    first, second = page.read_text().split("| the one has |")
    for row in told.iter_rows(named=True):
        name = row["queue"].removeprefix("python name=")
        assert cells(first, f"`{name}`")[1:] == [
            f"{row['goodput_mbps_mean']:.1f} Mb/s",
            f"{row['mean']:.1f} ms",
            f"{row['p95']:.1f} ms",
            f"{row['switch_drops_mean']:.0f}",
        ]
    results = tailback.run(fair, out="fair")
    nine = results.table("background_flows").group_by("queue").agg(pl.col("throughput_mbps").sum())
    told = results.summary.join(nine, on="queue")
    assert told.height == 4
    for row in told.iter_rows(named=True):
        name = row["queue"].removeprefix("python name=")
        assert cells(second, f"`{name}`")[1:3] == [
            f"{row['goodput_mbps_mean']:.1f} Mb/s",
            f"{row['throughput_mbps']:.1f} Mb/s",
        ]


def test_the_cell_gives_the_table_that_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = DOCS / "models" / "link-trace.md"
    write_files(page)
    [text] = [text for of, text in scenarios() if of == page]
    results = tailback.run(tailback.Scenario(text).override("run.repetitions=5"), out="cell")
    by = ["tcp_congestion_control", "queue"]
    used = 100 * pl.col("used_bytes") / pl.col("offered_bytes")
    ends = results.table("traces").group_by(*by, "run").agg(used.last().alias("used"))
    looks = results.table("samples").filter(pl.col("host") == "left0", pl.col("rtt_us") > 0)
    rtt_ms = pl.col("rtt_us") / 1e3
    told = (
        ends.group_by(by)
        .agg(pl.col("used").mean())
        .join(
            looks.group_by(by).agg(
                rtt_ms.median().alias("median"), rtt_ms.quantile(0.95).alias("p95")
            ),
            on=by,
        )
        .join(results.table("summary").group_by(by).agg(pl.col("switch_drops_mean").mean()), on=by)
    )
    assert told.height == 8
    for row in told.iter_rows(named=True):
        queue = {"fifo": "FIFO", "codel": "CoDel"}[row["queue"]]
        head = f"| `{row['tcp_congestion_control']}`, {queue} |"
        [line] = [line for line in page.read_text().splitlines() if line.startswith(head)]
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert cells[1] == f"{row['used']:.1f} %"
        assert cells[3] == f"{row['median']:.0f}; {row['p95']:.0f}"
        assert cells[5] == f"{row['switch_drops_mean']:.0f}"


def test_the_policed_line_gives_the_table_that_is_shown(tmp_path: Path) -> None:
    page = DOCS / "models" / "policer-shaper.md"
    [text] = [text for of, text in scenarios() if of == page]
    line = tailback.Scenario(text).set("sweep.tcp_congestion_control", ["cubic"])
    results = tailback.run(line.override("run.repetitions=5"), out=tmp_path / "line")
    lost = pl.col("link_losses_mean")
    means = results.summary.group_by("burst", maintain_order=True)
    told = means.agg(pl.col("goodput_mbps_mean").mean(), lost.mean())
    rows = [line for line in page.read_text().splitlines() if line.startswith("| `cubic` |")]
    # Further tables have more `cubic`.
    for row, column in zip(rows[:2], told.columns[1:], strict=True):
        cells = [cell.split(";")[0].strip() for cell in row.strip("|").split("|")]
        assert cells[1:] == [f"{value:.0f}" for value in told[column]]


def test_the_first_network_gives_the_table_that_is_shown(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = DOCS / "guide" / "own-network.md"
    Path("office.toml").write_text(shown("toml", page)[0])
    answer = command("run", "office.toml")
    assert answer.code == 0, answer.err
    rows = next(block for block in shown("", page) if "completion" in block).splitlines()
    assert len(rows) == 8
    # Where a model has changed, the guide has the new table.
    assert [row for row in rows if row not in answer.out.splitlines()] == [], answer.out
