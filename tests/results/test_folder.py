"""Run folders: filled, resumed, refused, completed."""

import errno
import json
from pathlib import Path

import polars as pl
import pytest

import tailback
from helpers import OWN, FakeBackend, tables_of
from tailback.analysis import View
from tailback.errors import InputError, RunsFailed, SimulationError
from tailback.results import manifest as manifests
from tailback.results import storage
from tailback.results.folder import default_target, open_folder, partial_path
from tailback.results.storage import StorageError


def test_tables_are_joined_in_the_order_of_the_plan(
    small: tailback.Scenario, fake: FakeBackend, tmp_path: Path
) -> None:
    results = tailback.run(small, out=tmp_path / "out", jobs=3, backend=fake)
    assert results.summary["run"].to_list() == [0, 1, 2, 3]
    assert results.summary["switch"].to_list() == ["arista-7124s"] * 2 + ["cisco-nexus-5010"] * 2
    assert results.summary["servers"].to_list() == [1, 3, 1, 3]
    assert results.table("drops")["run"].to_list() == [1, 2, 2, 3, 3, 3]
    assert results.tables == ["drops", "summary"]
    assert not partial_path(results.path).exists()
    assert sorted(path.name for path in results.path.iterdir()) == [
        "drops.parquet",
        "manifest.json",
        "summary.parquet",
    ]


def test_the_longest_runs_start_first(
    small: tailback.Scenario, fake: FakeBackend, tmp_path: Path
) -> None:
    tailback.run(small, out=tmp_path / "out", jobs=1, backend=fake)
    assert fake.made == [1, 3, 0, 2]


def test_the_manifest_says_what_was_run(
    small: tailback.Scenario, fake: FakeBackend, tmp_path: Path
) -> None:
    tailback.run(small, out=tmp_path / "out", jobs=2, seed=7, backend=fake)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["status"] == "complete"
    assert manifest["seed"] == 7
    assert manifest["runs"] == 4
    assert manifest["parameters"] == ["switch", "servers"]
    assert manifest["tables"] == ["drops", "summary"]
    assert manifest["scenario"]["workload"]["iterations"] == 2
    assert manifest["scenario_hash"] == small.set("run.seed", 7).plan.hash
    assert manifest["versions"]["tailback"] == tailback.__version__
    assert manifest["machine"]["cores"] >= 1
    assert manifest["duration_s"] > 0


def test_an_existing_folder_is_never_overwritten(
    small: tailback.Scenario, fake: FakeBackend, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="never overwritten"):
        tailback.run(small, out=out, backend=fake)
    assert (out / "thesis.txt").read_text() == "mine"
    assert fake.made == []


def test_a_folder_that_appears_meanwhile_is_not_overwritten(
    small: tailback.Scenario, tmp_path: Path
) -> None:
    out = tmp_path / "out"

    class Slow(FakeBackend):
        def run(self, *args: object) -> dict[str, pl.DataFrame]:
            out.mkdir(exist_ok=True)
            return dict(super().run(*args))  # type: ignore[arg-type]

    with pytest.raises(InputError, match="has appeared meanwhile"):
        tailback.run(small, out=out, backend=Slow())
    assert list(out.iterdir()) == []
    out.rmdir()
    again = FakeBackend()
    assert tailback.run(small, out=out, backend=again).summary.height == 4
    assert again.made == []


def test_a_failed_run_keeps_the_others_and_is_resumed(
    small: tailback.Scenario, broken: FakeBackend, fake: FakeBackend, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with pytest.raises(RunsFailed, match=r"(?s)1 of 4 .* run 1 .*servers = 3.*bytes are missing"):
        tailback.run(small, out=out, backend=broken)
    assert not out.exists()
    tailback.run(small, out=out, backend=fake)
    assert fake.made == [1]
    tailback.run(small, out=tmp_path / "straight", backend=FakeBackend())
    assert tables_of(out) == tables_of(tmp_path / "straight")


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        ("run.seed", 2, "its seed is 1, this one's 2"),
        ("name", "other", "scenario 'incast-8mb', this is 'other'"),
        ("workload.iterations", 3, "another version of this scenario"),
    ],
)
def test_a_partial_folder_of_something_else_is_refused(
    small: tailback.Scenario,
    broken: FakeBackend,
    tmp_path: Path,
    path: str,
    value: object,
    reason: str,
) -> None:
    out = tmp_path / "out"
    with pytest.raises(RunsFailed):
        tailback.run(small, out=out, backend=broken)
    before = sorted(partial_path(out).rglob("*"))
    with pytest.raises(InputError, match=reason):
        tailback.run(small.set(path, value), out=out, backend=broken)
    assert sorted(partial_path(out).rglob("*")) == before


def test_a_partial_folder_of_another_backend_or_version_is_refused(
    small: tailback.Scenario, broken: FakeBackend, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with pytest.raises(RunsFailed):
        tailback.run(small, out=out, backend=broken)
    with pytest.raises(InputError, match="backend fake, this is sim"):
        tailback.run(small, out=out)
    path = partial_path(out) / "manifest.json"
    path.write_text(
        path.read_text().replace(f'"tailback": "{tailback.__version__}"', '"tailback": "0.0.1"')
    )
    with pytest.raises(InputError, match=r"version 0\.0\.1, this is 0\."):
        tailback.run(small, out=out, backend=broken)


def test_a_partial_folder_in_use_is_refused(
    small: tailback.Scenario, fake: FakeBackend, tmp_path: Path
) -> None:
    holder = open_folder(tmp_path / "out", manifests.new(small, "fake", 1))
    with pytest.raises(InputError, match="another tailback is filling it"):
        tailback.run(small, out=tmp_path / "out", backend=fake)
    holder.close("interrupted")
    assert tailback.run(small, out=tmp_path / "out", backend=fake).summary.height == 4


def test_a_folder_of_other_things_is_not_taken_for_a_partial_one(
    small: tailback.Scenario, fake: FakeBackend, tmp_path: Path
) -> None:
    partial = tmp_path / "out.partial"
    partial.mkdir()
    (partial / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="not a run folder"):
        tailback.run(small, out=tmp_path / "out", backend=fake)


def test_what_a_killed_program_left_half_written_is_made_anew(
    small: tailback.Scenario, broken: FakeBackend, fake: FakeBackend, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with pytest.raises(RunsFailed):
        tailback.run(small, out=out, backend=broken)
    scratch = partial_path(out) / "runs" / ".0001.tmp"
    scratch.mkdir()
    (scratch / "summary.arrows").write_bytes(b"\xff")
    results = tailback.run(small, out=out, backend=fake)
    assert results.summary["run"].to_list() == [0, 1, 2, 3]


def test_a_damaged_run_is_named(
    small: tailback.Scenario, broken: FakeBackend, fake: FakeBackend, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with pytest.raises(RunsFailed):
        tailback.run(small, out=out, backend=broken)
    (partial_path(out) / "runs" / "0002" / "summary.arrows").write_bytes(b"\xff")
    with pytest.raises(StorageError, match="0002 and give the same command again"):
        tailback.run(small, out=out, backend=fake)


def test_a_run_without_tables_is_named(
    small: tailback.Scenario, broken: FakeBackend, fake: FakeBackend, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with pytest.raises(RunsFailed):
        tailback.run(small, out=out, backend=broken)
    for table in (partial_path(out) / "runs" / "0002").glob("*.arrows"):
        table.rename(table.with_suffix(".parquet"))  # as they once were kept
    with pytest.raises(StorageError, match="0002: holds no tables; remove"):
        tailback.run(small, out=out, backend=fake)


def test_a_full_disk_loses_nothing(
    small: tailback.Scenario,
    fake: FakeBackend,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = tmp_path / "out"
    write, room = storage.write_bytes, [3]

    def full(path: Path, content: bytes | memoryview) -> None:
        if path.suffix == ".arrows":
            room[0] -= 1
        if room[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, content)

    monkeypatch.setattr(storage, "write_bytes", full)
    with pytest.raises(StorageError, match="No space left on device; what is finished is kept"):
        tailback.run(small, out=out, jobs=1, backend=fake)
    monkeypatch.undo()
    # Run 1 was kept; run 3, and whatever its thread took up before the sweep stopped, was not.
    fake.made.clear()
    assert tailback.run(small, out=out, backend=fake).summary.height == 4
    assert fake.made == [3, 0, 2]


def test_the_default_folder_is_a_fresh_one_or_the_one_to_resume(
    small: tailback.Scenario,
    broken: FakeBackend,
    fake: FakeBackend,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert tailback.run(small, backend=fake).path == Path("results/incast-8mb")
    with pytest.raises(RunsFailed):
        tailback.run(small, backend=broken)
    other = manifests.new(small.set("run.seed", 5), "fake", 1)
    assert default_target("incast-8mb", other) == Path("results/incast-8mb-3")
    assert tailback.run(small, backend=fake).path == Path("results/incast-8mb-2")


def test_a_folder_that_cannot_be_written_is_named(
    small: tailback.Scenario, fake: FakeBackend, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="name a folder that can be written"):
        tailback.run(small, out=tmp_path / "file" / "out", backend=fake)


def test_results_refuse_what_is_no_finished_run_folder(
    small: tailback.Scenario, broken: FakeBackend, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="not a run folder"):
        tailback.Results(tmp_path)
    with pytest.raises(RunsFailed):
        tailback.run(small, out=tmp_path / "out", backend=broken)
    with pytest.raises(InputError, match="unfinished"):
        tailback.Results(tmp_path / "out.partial")


def test_an_unknown_table_is_answered_with_those_there_are(
    small: tailback.Scenario, fake: FakeBackend, tmp_path: Path
) -> None:
    results = tailback.run(small, out=tmp_path / "out", backend=fake)
    with pytest.raises(InputError, match="no table 'flow'; there are drops, summary"):
        results.table("flow")


def test_an_error_of_ours_is_not_taken_for_a_failed_run(
    small: tailback.Scenario, tmp_path: Path
) -> None:
    backend = FakeBackend(fail={0: ZeroDivisionError("a defect")})
    with pytest.raises(ZeroDivisionError):
        tailback.run(small, out=tmp_path / "out", backend=backend)
    assert issubclass(SimulationError, tailback.TailbackError)


def test_a_column_that_some_runs_of_a_sweep_have_is_null_for_the_others(tmp_path: Path) -> None:
    flows = {
        "kind": "flows",
        "load": 0.2,
        "sizes": {"kind": "fixed", "bytes": "10KB"},
        "duration": "2ms",
    }
    asked = {"load": 0.1, "fan_in": 2, "size": "5KB"}
    cases = [
        {"label": {"asks": "nobody"}, "set": {"workload.load": 0.2}},
        {"label": {"asks": "all"}, "set": {"workload.queries": asked}},
    ]
    scenario = tailback.Scenario(OWN | {"workload": flows, "sweep": {"case": cases}})
    results = tailback.run(scenario, out=tmp_path / "r")
    nobody, queries = results.summary.sort("run")["queries"].to_list()
    assert nobody is None
    assert queries == results.table("queries").height > 0
    assert results.table("flows").filter(run=0)["query"].is_null().all()
    assert View(results).known("query_ms_median")
