"""Bad input: a clear message on stderr, exit code 2, no traceback, nothing written."""

import json
from pathlib import Path

import polars as pl
import pytest

from helpers import OWN, SMALL_ARGS, Answer, Command
from synthetic import sweep_folder
from tailback.toml_value import toml_document


def refused(answer: Answer, *said: str) -> None:
    """`answer` refuses bad input, and says all of `said`."""
    assert answer.code == 2, answer
    assert answer.out == ""
    assert "Traceback" not in answer.err
    for text in said:
        assert text in answer.err, answer.err


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("workload.sevrers=3", ("workload.sevrers", "servers")),
        ("network.link.rate=10Gbyte", ("network.link.rate", "Gbit")),
        ("network.link.delay=8MB", ("network.link.delay",)),
        ("workload.size=-8MB", ("workload.size",)),
        ("network.hosts=0", ("network.hosts",)),
        ("network.hosts=100", ("network.switch", "ports", "100")),
        ("sweep.servers=[24]", ("servers", "24")),
        ("sweep.servers=[]", ("sweep.servers",)),
        ('sweep.switch=["arista-7124"]', ("arista-7124s",)),
        ("stack=linux-2.6.81", ("linux-2.6.18",)),
        ("nothing", ("nothing",)),
        ("workload.servers=1\n[x]\x1b[31m", ("--set workload.servers=1\\n[x]\\x1b[31m: ",)),
    ],
)
@pytest.mark.parametrize("name", ["check", "run"])
def test_a_wrong_value(
    command: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    override: str,
    said: tuple[str, ...],
) -> None:
    monkeypatch.chdir(tmp_path)
    refused(command(name, "incast-8mb", "--set", override), *said)
    assert list(tmp_path.iterdir()) == []


def test_all_errors_of_a_file_with_their_lines(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'name = "mine"\nhost = "rhel-5.4-x5540-ne020"\nstack = "linux-2.6.18"\n'
        '[network]\ntopology = "star"\nswitch = "arista-7124s"\nhosts = 0\n'
        'link = { rate = "10Gbit", delay = "25ns", mtu = "9000" }\n'
        '[workload]\nkind = "incast"\nservers = 1\nsize = "-8MB"\niterations = 1\ncolour = "red"\n'
    )
    refused(
        command("check", path),
        f"{path}:7:",
        f"{path}:8:",
        f"{path}:12:",
        f"{path}:14:",
        "network.link.mtu",
    )


@pytest.mark.parametrize("text", ["", "name = ", "\x00", "[[[", "2 10.0.0.2"])
def test_a_file_that_is_no_scenario(command: Command, tmp_path: Path, text: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    refused(command("check", path), "mine.toml")
    refused(command("run", path), "mine.toml")


@pytest.mark.parametrize("text", ["", "2\n10.0.0.2\n", "2\n10.0.0.2\n10.0.0.3\n8000000\n"])
def test_a_dat_file_cut_short(command: Command, tmp_path: Path, text: str) -> None:
    path = tmp_path / "incast.dat"
    path.write_text(text)
    for name in ("check", "run", "show"):
        refused(command(name, path), "incast.dat")


def test_a_file_that_is_not_there(command: Command, tmp_path: Path) -> None:
    refused(command("run", tmp_path / "missing.toml"), "missing.toml", "No such file")
    refused(command("show", "incast-9mb"), "did you mean 'incast-8mb'?")
    refused(command("show", "arista"), "scenario or preset", "did you mean 'arista-7124s'?")
    refused(command("show", "nothing-like-it"), "das2-p3-gbe", "incast-8mb")


def test_programs_without_a_kernel(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "programs.toml"
    run = [{"host": "host0", "run": "true"}]
    path.write_text(toml_document(OWN | {"workload": {"kind": "command", "command": run}}))
    said = "(--backend kernel, namespaces or hosts)"
    refused(command("run", path, "--out", tmp_path / "out"), said)
    assert list(tmp_path.iterdir()) == [path]
    answer = command("check", path)
    assert (answer.code, said in answer.out) == (0, True), answer


def test_an_output_folder_that_exists(command: Command, tmp_path: Path) -> None:
    refused(command("run", "incast-8mb", *SMALL_ARGS, "--out", tmp_path), "never overwritten")


@pytest.mark.parametrize(
    "arguments",
    [
        ("run",),
        ("run", "incast-8mb", "--jobs", "0"),
        ("run", "incast-8mb", "--backend", "magic"),
        ("export", "nowhere"),
        ("export", "nowhere", "--format", "xlsx"),
        ("report", "nowhere"),
        ("compare", "nowhere", "published:incast-8MB"),
        ("show", "arista-7124s", "--resolved"),
        ("fly",),
    ],
)
def test_a_command_that_cannot_be_meant(command: Command, arguments: tuple[str, ...]) -> None:
    refused(command(*arguments))


def test_a_partial_folder_of_another_scenario(command: Command, tmp_path: Path) -> None:
    out = tmp_path / "out"
    partial = tmp_path / "out.partial"
    partial.mkdir()
    (partial / "manifest.json").write_text("{}")
    refused(command("run", "incast-8mb", *SMALL_ARGS, "--out", out), "not a run folder")


def test_a_misspelt_command_a_study_and_a_file_without_its_ending(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused(command("compaer", "a", "b"), "No such command 'compaer'; did you mean 'compare'?")
    refused(command("reproduce", "incats"), "incats: no such study; did you mean 'incast'?")
    refused(command("reproduce", "--only", "reno"), "--only: incast has no groups of cells")
    refused(command("reproduce", "--set", "run.seed=2"), "--set: incast runs as it is")
    refused(
        command("reproduce", "tcp-parity", "--set", "stakc.tcp_sack=false"),
        '--set stakc.tcp_sack=false: there is no key "stakc"',
    )
    refused(
        command("reproduce", "congestion-parity", "--only", "cubik"),
        "cubik: no such group or congestion control; did you mean 'cubic'?",
    )
    Path("office.toml").write_text('name = "office"\n')
    refused(command("check", "office"), "did you mean 'office.toml'?")
    for misspelt in ("offce.toml", "office.tml"):
        refused(command("check", misspelt), f"{misspelt}: ", "did you mean 'office.toml'?")
    refused(command("run", tmp_path), "is a folder, not a scenario; give a .toml file in it")


def test_no_run_folder_says_why_and_where_one_is(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = sweep_folder(tmp_path / "results" / "office", {"servers": [1, 2]})
    refused(command("report", "results/ofice"), "is not there; did you mean 'results/office'?")
    refused(command("export", "office"), "office: is not there; did you mean 'results/office'?")
    refused(command("report", "results"), "but holds some; give one of them: results/office\n")
    refused(
        command("report", "nowhere"), "nowhere: is not there; give a folder that `tailback run`"
    )
    refused(command("report", folder / "summary.parquet"), "is a file and not a run folder; give")
    refused(command("report", "x" * 300), "cannot be read: File name too long; give a folder")
    empty = tmp_path / "empty"
    empty.mkdir()
    refused(
        command("compare", folder, empty), "empty: is not a run folder (no manifest.json in it)"
    )
    folder.rename("results/stopped.partial")
    refused(command("report", "results/stopped"), "results/stopped.partial is unfinished: give the")
    (empty / "manifest.json").write_text("{}")
    refused(command("report", empty), "manifest.json in it is none of Tailback's, or damaged")
    (empty / "manifest.json").unlink()
    (empty / "manifest.json").mkdir()
    refused(command("report", empty), "manifest.json in it cannot be read: Is a directory; ask")


def test_a_damaged_table(command: Command, tmp_path: Path) -> None:
    folder = sweep_folder(tmp_path / "r", {"servers": [1, 2]})
    refused(command("run", folder), "is a results folder, not a scenario; `tailback report` shows")
    (folder / "summary.parquet").write_bytes(b"x")
    refused(command("report", folder), "summary.parquet: cannot be read: ", "copy the folder anew")


def test_another_table_in_the_place_of_the_summary(command: Command, tmp_path: Path) -> None:
    folder = sweep_folder(tmp_path / "r", {"servers": [1, 2]})
    rows = {"run": [0, 1], "servers": [1, 2], "repetition": [0, 0], "frames": [1, 2]}
    pl.DataFrame(rows).write_parquet(folder / "summary.parquet")
    refused(command("report", folder), "summary.parquet: is another table; copy the folder anew")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("scenario", "incast"),
        ("scenario", {}),
        ("scenario", {"workload": {}, "network": 1.5}),
        ("parameters", None),
        ("parameters", [["servers"]]),
        ("machine", {"cpu": [1]}),
        ("started", 5),
    ],
)
def test_a_damaged_manifest(command: Command, tmp_path: Path, key: str, value: object) -> None:
    folder = sweep_folder(tmp_path / "r", {"servers": [1, 2]})
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    refused(command("report", folder), f"manifest.json: is damaged ({key}); copy the folder anew")


def changed(folder: Path, **manifest: object) -> None:
    """Something that a report does not foresee in a table, and in the manifest what is given."""
    table = folder / "transactions.parquet"
    pl.read_parquet(table).with_columns(completion_ms=pl.lit([1.0])).write_parquet(table)
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | manifest))


def test_a_table_that_is_not_as_it_was_written(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "r"
    assert command("run", "incast-8mb", *SMALL_ARGS, "--out", folder).code == 0
    changed(folder)
    said = f"{folder / 'transactions.parquet'}: is not as it was written; copy the folder anew"
    refused(command("report", folder), said)
    changed(folder, digests={})
    with pytest.raises(pl.exceptions.PolarsError):  # for all that is known it is our defect
        command("report", folder)
    changed(folder, digests={}, versions={"tailback": "0.0.1"})
    refused(command("report", folder), "was written by version 0.0.1", "run the scenario again")
