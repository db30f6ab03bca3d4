"""Congestion controls in Python: they are asked as built-in ones are, and their faults are told."""

import sys
from pathlib import Path

import polars as pl
import pytest

import tailback
from helpers import Command
from tailback.results import Results

SCENARIO = """
name = "own"
[network]
topology = "dumbbell"
pairs = 2
link = { rate = "1Gbit", delay = "10us", mtu = "1500B" }
trunk = [{ rate = "100Mbit", delay = "5ms", mtu = "1500B" }]
[network.switch]
preset = "plain"
buffer = { shared = "60kB" }
[workload]
kind = "bulk"
pairs = { kind = "listed", list = [["left0", "right0"], ["left1", "right1"]] }
duration = "4s"
[run]
common_random_numbers = true
[python.mine]
path = "mine.py"
"""

HEAD = "from tailback import CongestionControl\n\n\n"

RENO = (
    HEAD
    + """
class Reno(CongestionControl):
    def cong_avoid(self, tp, acked):
        if tp.is_cwnd_limited:
            if tp.in_slow_start:
                acked = tp.slow_start(acked)
            if acked:
                tp.cong_avoid_ai(tp.snd_cwnd, acked)

    def ssthresh(self, tp):
        return max(tp.snd_cwnd // 2, 2)

    def undo_cwnd(self, tp):
        return max(tp.snd_cwnd, tp.prior_cwnd)
"""
)

SCALABLE = (
    HEAD
    + """
class Scalable(CongestionControl):
    ai_cnt = 100
    shift = 3

    def cong_avoid(self, tp, acked):
        if tp.is_cwnd_limited:
            if tp.in_slow_start:
                acked = tp.slow_start(acked)
            if acked:
                tp.cong_avoid_ai(min(tp.snd_cwnd, self.ai_cnt), acked)

    def ssthresh(self, tp):
        return max(tp.snd_cwnd - (tp.snd_cwnd >> self.shift), 2)
"""
)

DCTCP = (
    HEAD
    + """
class Dctcp(CongestionControl):
    needs_ecn = True
    shift_g = 4

    def __init__(self):
        self.alpha = 1024
        self.loss_cwnd = 0

    def init(self, tp):
        self.begin(tp)

    def begin(self, tp):
        self.next_seq = tp.snd_nxt
        self.before = tp.delivered, tp.delivered_ce

    def ssthresh(self, tp):
        self.loss_cwnd = tp.snd_cwnd
        return max(tp.snd_cwnd - ((tp.snd_cwnd * self.alpha) >> 11), 2)

    def undo_cwnd(self, tp):
        return max(tp.snd_cwnd, self.loss_cwnd)

    def in_ack_event(self, tp, ack):
        if (tp.snd_una - self.next_seq) % 2**32 >= 2**31:
            return
        delivered, marked = tp.delivered - self.before[0], tp.delivered_ce - self.before[1]
        less = self.alpha >> self.shift_g
        self.alpha -= min(self.alpha, less) if less else self.alpha
        self.alpha = min(self.alpha + (marked << (10 - self.shift_g)) // max(delivered, 1), 1024)
        self.begin(tp)

    def set_state(self, tp, new_state):
        if new_state == "recovery" != tp.ca_state:
            self.loss_cwnd = tp.snd_cwnd
            tp.snd_ssthresh = max(tp.snd_cwnd // 2, 2)
"""
)

MARKING = [
    "network.switch.marking={ kind = 'step', threshold = '30kB' }",
]

WATCHER = (
    HEAD
    + """
CALLS = {}


class Watcher(CongestionControl):
    def called(self, name, tp):
        CALLS[name] = CALLS.get(name, 0) + 1
        assert tp.snd_cwnd >= 1 and tp.mss_cache == 1448
        assert tp.now_us > 0 and (tp.srtt_us is None or tp.srtt_us >= 10_000)
        assert tp.min_rtt_us is None or 10_000 <= tp.min_rtt_us < 11_000
        assert (tp.snd_nxt - tp.snd_una) % 2**32 < 2**31

    def init(self, tp):
        self.called("init", tp)
        assert 0 <= self.seed < 2**64 and not tp.ecn and tp.ca_state == "open"

    def cong_avoid(self, tp, acked):
        self.called("cong_avoid", tp)
        assert acked >= 1
        super().cong_avoid(tp, acked)

    def ssthresh(self, tp):
        self.called("ssthresh", tp)
        return super().ssthresh(tp)

    def set_state(self, tp, new_state):
        self.called("set_state", tp)
        assert new_state in {"open", "disorder", "cwr", "recovery", "loss"}

    def cwnd_event(self, tp, event):
        self.called("cwnd_event", tp)
        assert event in {"tx_start", "cwnd_restart", "complete_cwr", "loss"}

    def pkts_acked(self, tp, sample):
        self.called("pkts_acked", tp)
        assert sample.rtt_us is None or 10_000 <= sample.rtt_us < 40_000
        assert sample.pkts_acked >= 0 and sample.in_flight >= 0

    def in_ack_event(self, tp, ack):
        self.called("in_ack_event", tp)
        assert not ack.ece and ack.slow_path in {True, False}
"""
)

STEADY = (
    HEAD
    + """
class Steady(CongestionControl):
    rate_mbps = 10.0

    def cong_control(self, tp, rs):
        tp.sk_pacing_rate = self.rate_mbps * 1e6 / 8
        tp.snd_cwnd = 1000
        assert rs.prior_in_flight <= 1000 and rs.losses == 0
        if rs.delivery_rate is not None and tp.now_us > 2_000_000:
            assert 0.5 < rs.delivery_rate * 8e-6 / self.rate_mbps < 1.5, rs.delivery_rate
"""
)


def scenario(folder: Path, program: str, *overrides: str) -> tailback.Scenario:
    """The scenario, with this program beside it."""
    (folder / "mine.py").write_text(program)
    (folder / "own.toml").write_text(SCENARIO)
    return tailback.load(folder / "own.toml").override(*overrides)


def run(folder: Path, name: str, found: tailback.Scenario, **options: int) -> Results:
    """What a run of it gives."""
    return tailback.run(found, out=folder / name, **options)


def tables(results: Results) -> list[pl.DataFrame]:
    """What does not say which congestion control it was."""
    flows = results.table("flows")
    without = [name for name in flows.columns if "congestion_control" not in name]
    summary = results.summary
    same = [name for name in summary.columns if "congestion_control" not in name]
    return [flows.select(without).drop("run"), summary.select(same).drop("run")]


@pytest.mark.parametrize(
    ("name", "program", "overrides"),
    [
        ("reno", RENO, ["run.seed=1"]),
        ("reno", HEAD + "class AsItIs(CongestionControl):\n    pass\n", ["run.seed=2"]),
        ("scalable", SCALABLE, []),
        ("dctcp", DCTCP, MARKING),
        ("dctcp", DCTCP, ["network.switch.buffer.shared=33kB", *MARKING]),
    ],
)
def test_a_port_of_a_built_in_one_gives_its_tables(
    name: str, program: str, overrides: list[str], tmp_path: Path
) -> None:
    of = [
        run(
            tmp_path,
            which,
            scenario(tmp_path, program, f"stack.tcp_congestion_control={kind}", *overrides),
        )
        for which, kind in [("own", "python:mine"), ("built-in", name)]
    ]
    own, built_in = map(tables, of)
    assert own[0]["received_bytes"].min() > 1_000_000
    assert own[0].equals(built_in[0])
    assert own[1].equals(built_in[1])


def test_each_hook_is_called_with_what_is_so(tmp_path: Path) -> None:
    found = scenario(tmp_path, WATCHER, "stack.tcp_congestion_control=python:mine")
    results = run(tmp_path, "results", found)
    assert results.table("flows")["retransmissions"].sum() > 0
    calls = sys.modules["tailback_python_mine"].CALLS
    assert set(calls) == {
        "init",
        "cong_avoid",
        "ssthresh",
        "set_state",
        "cwnd_event",
        "pkts_acked",
        "in_ack_event",
    }
    assert calls["init"] == 4


def test_one_in_full_control_sends_at_its_rate(tmp_path: Path) -> None:
    control = "workload.congestion=['python:mine']"
    found = scenario(tmp_path, STEADY, control, "workload.omit=1s")
    swept = found.override("sweep={ 'python.mine.set.rate_mbps' = [5, 40] }")
    flows = run(tmp_path, "results", swept).table("flows")
    of = flows.group_by("rate_mbps", maintain_order=True).agg("received_bytes", "retransmissions")
    for row in of.iter_rows(named=True):
        assert row["retransmissions"] == [0, 0]
        mbps = [bytes_ * 8e-6 / 4 for bytes_ in row["received_bytes"]]
        assert mbps == pytest.approx([row["rate_mbps"]] * 2, rel=0.005)


def test_it_is_the_same_at_one_and_two_jobs(tmp_path: Path) -> None:
    program = (
        HEAD
        + "import random\n\n\nclass Drawn(CongestionControl):\n"
        + "    def __init__(self):\n        self.random = random.Random(self.seed)\n\n"
        + "    def ssthresh(self, tp):\n"
        + "        return max(int(tp.snd_cwnd * self.random.uniform(0.3, 0.9)), 2)\n"
    )
    found = scenario(
        tmp_path, program, "stack.tcp_congestion_control=python:mine", "run.repetitions=3"
    )
    one, two = (run(tmp_path, f"jobs{jobs}", found, jobs=jobs) for jobs in (1, 2))
    assert one.table("flows").equals(two.table("flows"))
    assert one.table("flows")["fast_recoveries"].min() > 0
    assert one.table("flows")["received_bytes"].n_unique() == 6


@pytest.mark.parametrize(
    ("program", "overrides", "said"),
    [
        ("x = = 1\n", [], "python.mine: mine.py, line 1: invalid syntax"),
        ("x = 1\n", [], "python.mine: mine.py has no congestion control; a class derived"),
        ("import nonesuch\n", [], "mine.py, line 1, in <module>: ModuleNotFoundError"),
        ("import sys\nsys.exit(0)\n", [], "mine.py, line 2, in <module>: SystemExit: 0"),
        (RENO + SCALABLE, [], "mine.py has 2 congestion controls (Reno, Scalable); say which"),
        (SCALABLE, ["python.mine.class=Scaleable"], "did you mean 'Scalable'?"),
        (SCALABLE, ["python.mine.set.ai_cont=5"], "did you mean 'ai_cnt'?"),
        (SCALABLE, ["python.mine.set.ai_cnt=many"], "'many' is no int, as Scalable.ai_cnt is"),
        (
            RENO + "    def __init__(self, beta):\n        pass\n",
            [],
            "python.mine: TypeError: Reno.__init__() missing 1 required positional argument",
        ),
    ],
)
def test_a_program_that_is_none_is_told_before_a_run(
    program: str, overrides: list[str], said: str, tmp_path: Path, command: Command
) -> None:
    scenario(tmp_path, program)
    overrides = ["stack.tcp_congestion_control=python:mine", *overrides]
    settings = [part for one in overrides for part in ("--set", one)]
    file = str(tmp_path / "own.toml")
    for arguments in (["check", file], ["run", file, "-o", str(tmp_path / "results")]):
        done = command(*arguments, *settings)
        assert done.code == 2, done
        assert said in done.err
        assert "Traceback" not in done.err
    assert not list(tmp_path.glob("results*"))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("def ssthresh(self, tp): return tp.snd_cwnd / 3", "line 5, in ssthresh: TypeError: its"),
        ("def ssthresh(self, tp): return 0", "ValueError: its answer is at least 1, and 0 is not"),
        ("def cong_avoid(self, tp, acked): tp.snd_cwnd += 0.1", "snd_cwnd is a whole number"),
        ("def cong_avoid(self, tp, acked): 1 / (acked - acked)", "line 5, in cong_avoid: ZeroDiv"),
        (
            "def cong_avoid(self, tp, acked):\n        self.mine = 0.5\n        tp.snd_cwnd += 0.5",
            "line 7, in cong_avoid: TypeError: snd_cwnd is a whole number",
        ),
        ("def cong_avoid(self, tp): pass", "takes 2 positional arguments but 3 were given"),
        ("def cong_control(self, tp, rs): tp.sk_pacing_rate = 0", "at least 1 byte a second"),
        ("def init(self, tp): tp.mss_cache = 9", "line 5, in init: AttributeError"),
    ],
)
def test_what_a_hook_raises_fails_its_run_alone(
    body: str, said: str, tmp_path: Path, command: Command
) -> None:
    program = f"{HEAD}class Wrong(CongestionControl):\n    {body}\n"
    scenario(tmp_path, program)
    both = "sweep={ 'stack.tcp_congestion_control' = ['cubic', 'python:mine'] }"
    out = tmp_path / "results"
    done = command("run", str(tmp_path / "own.toml"), "-o", str(out), "--set", both)
    assert done.code == 1, done
    assert "1 of 2 runs failed" in done.err
    assert f"run 1 (tcp_congestion_control = python:mine): mine.py, {said}" in done.err or (
        "line" not in said and said in done.err and "mine.py, line 5" in done.err
    )
    assert "Traceback" not in done.err


def test_results_hold_the_program_and_do_not_execute_it(tmp_path: Path, command: Command) -> None:
    trace = tmp_path / "executed"
    program = f"import pathlib\n\npathlib.Path({str(trace)!r}).touch()\n{RENO}"
    found = scenario(tmp_path, program, "stack.tcp_congestion_control=python:mine")
    results = run(tmp_path, "results", found)
    assert results.manifest["scenario"]["python"]["mine"] == {"source": program, "file": "mine.py"}
    trace.unlink()
    again = tailback.Scenario(results.manifest["scenario"])
    assert again.check() == []
    assert command("report", str(tmp_path / "results")).code == 0
    assert not trace.exists()
    (tmp_path / "mine.py").unlink()
    assert run(tmp_path, "again", again).table("flows").equals(results.table("flows"))
    assert trace.exists()


@pytest.mark.parametrize("backend", ["kernel", "namespaces"])
def test_real_hosts_do_not_run_it(backend: str, tmp_path: Path, command: Command) -> None:
    scenario(tmp_path, RENO)
    flow = "workload.congestion=['python:mine']"
    near = "network.trunk.0.delay=10us"
    file = str(tmp_path / "own.toml")
    done = command("run", file, "--backend", backend, "--set", flow, "--set", near)
    assert done.code == 2
    assert "python:mine is a program for modelled hosts, and host left0 is a real one" in done.err
