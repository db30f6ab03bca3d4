"""Run folders with believable numbers that no simulator made: for tests of reports alone."""

import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from tailback import published
from tailback.scenario import built_in

RTO_MS = 201.0
SERVERS = tuple(range(1, 24))


def incast_folder(
    path: Path,
    *,
    servers: Sequence[int] = SERVERS,
    iterations: int = 40,
    off: float = 0.0,
    overrides: Sequence[str] = (),
) -> Path:
    """A folder of incast-8mb around the published table; `off` shifts all of its metrics.

    `overrides` change the scenario that the folder says it is of, not its numbers.

    A transaction's time is a clean transfer plus whole timeouts, so that means fit the table.
    """
    rng = random.Random(1)  # noqa: S311 - noise, no secret
    table = published.load("incast-8MB").frame.filter(pl.col("servers").is_in(servers))
    summary, transactions, queues, progress = [], [], [], []
    for run, row in enumerate(table.iter_rows(named=True)):
        head = {"run": run, "switch": row["switch"], "servers": row["servers"], "repetition": 0}
        mean_ms = row["completion_ms_mean"] * (1 + off)
        clean_ms = 0.28 + row["servers"] * 8e6 * 8 / 9.83e6
        waits = max(mean_ms - clean_ms, 0) / RTO_MS
        times = [
            clean_ms * rng.uniform(1.0, 1.04) + RTO_MS * (int(waits) + (rng.random() < waits % 1))
            for _ in range(iterations)
        ]
        start_s = 0.0
        for iteration, completion_ms in enumerate(times):
            transactions.append(
                head
                | {
                    "iteration": iteration,
                    "start_s": start_s,
                    "completion_ms": completion_ms,
                    "switch_drops": round(row["switch_drops_mean"]),
                    "timeouts": int((completion_ms - clean_ms) // (RTO_MS / 2)),
                }
            )
            start_s += completion_ms / 1e3
        duration_s = mean_ms * iterations / 1e3
        data_bytes = row["servers"] * 8_000_000 * iterations
        summary.append(
            head
            | {
                "iterations": iterations,
                "completion_ms_mean": mean_ms,
                "completion_ms_max": max(times),
                "goodput_mbps_mean": data_bytes * 8e-6 / duration_s,
                "switch_drops_mean": row["switch_drops_mean"] * (1 + off),
                "host_drops_mean": 0.0,
                "retransmissions_mean": row["retransmissions_mean"] * (1 + off),
                "timeouts_mean": waits,
                "queue_bytes_max": 1_240_000 if row["switch_drops_mean"] else 30_000,
                "data_bytes_total": data_bytes,
                "duration_s_total": duration_s,
            }
        )
        series = anatomy(row["servers"], times[-1], clean_ms)
        queues += [head | r for r in series[0]]
        progress += [head | r for r in series[1]]
    return write_folder(
        path,
        name="incast-8mb",
        title="Incast, 8 MB from every server",
        study="incast",
        parameters=["switch", "servers"],
        tables={
            "summary": summary,
            "transactions": transactions,
            "queues": queues,
            "progress": progress,
        },
        overrides=[
            f"sweep.servers={list(servers)}",
            f"workload.iterations={iterations}",
            *overrides,
        ],
    )


def anatomy(
    servers: int, total_ms: float, clean_ms: float
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Series of one transaction: the first third of the flows waits for one timeout, if any."""
    waited_ms = max(total_ms - clean_ms * 1.04, 0)
    stop_ms, times = clean_ms * 0.8, [i * total_ms / 200 for i in range(201)]
    queues, progress = [], []
    for t in times:
        busy = t < stop_ms or t > stop_ms + waited_ms
        level = 1.1e6 * min(1, t / 3) * (0.8 + 0.2 * ((t * 7) % 1)) if busy else 0
        queues.append(
            {
                "time_us": t * 1e3,
                "place": "switch:0",
                "queue_bytes_min": int(level * 0.8),
                "queue_bytes_max": int(level),
            }
        )
    for flow in range(servers):
        held = flow < servers / 3 and waited_ms > 0
        for t in times:
            moved = min(t, stop_ms) + max(t - stop_ms - waited_ms, 0) if held else t * 1.2
            progress.append(
                {
                    "time_us": t * 1e3,
                    "flow": flow,
                    "received_bytes": int(min(8e6, 8e6 * moved / (total_ms - waited_ms))),
                    "cwnd_segments": 20,
                    "waiting_for_timeout": held and stop_ms < t < stop_ms + waited_ms,
                }
            )
    return queues, progress


def sweep_folder(path: Path, axes: dict[str, Sequence[Any]], *, repetitions: int = 1) -> Path:
    """A folder of a scenario nobody published, over any axes."""
    rows, points = [], _product(list(axes.items()))
    for point in points:
        for repetition in range(repetitions):
            completion_ms = 10.0 + 3 * len(rows) + repetition
            rows.append(
                {"run": len(rows)}
                | point
                | {
                    "repetition": repetition,
                    "iterations": 5,
                    "completion_ms_mean": completion_ms,
                    "goodput_mbps_mean": 1e4 / completion_ms,
                    "switch_drops_mean": 0.0,
                    "retransmissions_mean": 0.0,
                    "timeouts_mean": 0.0,
                    "data_bytes_total": 1_000_000,
                    "duration_s_total": completion_ms * 5 / 1e3,
                }
            )
    heads = [
        {k: v for k, v in row.items() if k in {"run", "repetition", *axes}}
        | {"iteration": i, "completion_ms": row["completion_ms_mean"] * (0.9 + i / 20)}
        for row in rows
        for i in range(5)
    ]
    return write_folder(
        path,
        name="mine",
        title="A sweep of my own",
        study=None,
        parameters=list(axes),
        tables={"summary": rows, "transactions": heads},
    )


def write_folder(
    path: Path,
    *,
    name: str,
    title: str,
    study: str | None,
    parameters: list[str],
    tables: dict[str, list[dict[str, Any]]],
    network: dict[str, Any] | None = None,
    workload: str = "incast",
    overrides: Sequence[str] = (),
) -> Path:
    """Writes tables and manifest as the one writer of run folders does.

    A built-in scenario's are of it under `overrides`.
    """
    path.mkdir(parents=True)
    for table, rows in tables.items():
        pl.DataFrame(rows).write_parquet(path / f"{table}.parquet")
    own = built_in().get(name)
    manifest = {
        "format": 1,
        "status": "complete",
        "name": name,
        "title": title,
        "description": "Every server answers the client at once.",
        "study": study,
        "scenario": own.override(*overrides).resolved
        if own
        else {
            "name": name,
            "title": title,
            "network": network or {},
            "workload": {"kind": workload, "size": "8MB"},
        },
        "scenario_hash": "c0ffee" * 10,
        "seed": 1,
        "runs": len(tables["summary"]),
        "parameters": parameters,
        "backend": "sim",
        "versions": {"tailback": "0.1.0", "python": "3.11.7", "polars": "2.1.0"},
        "machine": {"cpu": "A CPU", "cores": 2, "memory_bytes": 8 << 30, "system": "Linux"},
        "jobs": 2,
        "started": "2026-11-21T03:00:00+00:00",
        "duration_s": 61.5,
        "tables": sorted(tables),
    }
    (path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return path


def _product(axes: Iterable[tuple[str, Sequence[Any]]]) -> list[dict[str, Any]]:
    points: list[dict[str, Any]] = [{}]
    for name, values in axes:
        points = [point | {name: value} for point in points for value in values]
    return points
