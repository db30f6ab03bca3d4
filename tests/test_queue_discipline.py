"""Queue disciplines in Python: they do what built-in ones do, and their faults are told."""

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
switch = { preset = "plain-queued", buffer = { shared = "1MB" } }
link = { rate = "1Gbit", delay = "10us", mtu = "1500B" }
trunk = [{ rate = "100Mbit", delay = "5ms", mtu = "1500B" }]
[workload]
kind = "bulk"
pairs = { kind = "listed", list = [["left0", "right0"], ["left1", "right1"]] }
duration = "3s"
[run]
common_random_numbers = true
[python.mine]
path = "mine.py"
"""

OWN = "network.switch.buffer.queue={ kind = 'python', name = 'mine' }"

HEAD = "from tailback import QueueDiscipline\n\n\n"

STEP = (
    HEAD
    + """
class Step(QueueDiscipline):
    threshold = 30_000

    def enqueue(self, q, packet):
        if q.backlog_bytes > self.threshold:
            packet.set_ce()
"""
)

CODEL = (
    HEAD
    + """
TICK_NS = 1024


class Codel(QueueDiscipline):
    \"\"\"sch_codel, in whole ticks and 32-bit fractions as there.\"\"\"

    target_us = 5000
    interval_us = 100_000
    ecn = False

    def __init__(self):
        self.target = self.target_us * 1000 // TICK_NS * TICK_NS
        self.interval = self.interval_us * 1000 // TICK_NS * TICK_NS
        self.first_above = self.drop_next = None
        self.dropping = False
        self.count = self.last_count = 0
        self.root = 0xFFFF0000
        self.dropped = None  # by which decision the frame before this one was, just now

    def dequeue(self, q, packet):
        late, before, self.dropped = self.is_late(q, packet), self.dropped, None
        if before == "first":
            return
        if before == "again":
            self.next_after(self.drop_next)
        if self.dropping:
            self.dropping = late
            if late and q.now_ns >= self.drop_next:
                self.count += 1
                self.newton()
                self.signal(packet, "again")
        elif late:
            self.signal(packet, "first")
            self.begin(q.now_ns)

    def signal(self, packet, which):
        if not (self.ecn and packet.set_ce()):
            packet.drop()
            self.dropped = which
        elif which == "again":
            self.next_after(self.drop_next)

    def is_late(self, q, packet):
        if packet.sojourn_ns < self.target or q.backlog_bytes <= q.frame_bytes_max:
            self.first_above = None
            return False
        if self.first_above is None:
            self.first_above = q.now_ns + self.interval
            return False
        return q.now_ns > self.first_above

    def begin(self, now):
        self.dropping = True
        episode = self.count - self.last_count
        soon = self.drop_next is not None and now < self.drop_next + 16 * self.interval
        if episode > 1 and soon:
            self.count = episode
            self.newton()
        else:
            self.count, self.root = 1, 0xFFFF0000
        self.last_count = self.count
        self.next_after(now)

    def newton(self):
        rest = (3 << 32) - self.count * (self.root * self.root >> 32)
        self.root = ((rest >> 2) * self.root >> 31) & 0xFFFF0000

    def next_after(self, start):
        ticks = self.interval // TICK_NS * self.root >> 32
        self.drop_next = start + max(ticks, 1) * TICK_NS
"""
)

PRIORITY = (
    HEAD
    + """
class Priority(QueueDiscipline):
    def rank(self, q, packet):
        return -packet.priority
"""
)

SHAPER = (
    HEAD
    + """
class Shaper(QueueDiscipline):
    \"\"\"CAKE's shaper (cake_advance_shaper), in whole nanoseconds.\"\"\"

    rate_bps = 50_000_000

    def __init__(self):
        self.next_ns = 0

    def enqueue(self, q, packet):
        if q.qlen == 0:
            self.next_ns = max(self.next_ns, q.now_ns)

    def due_ns(self, q, packet):
        return self.next_ns

    def dequeue(self, q, packet):
        # Linux does not count the FCS.
        self.next_ns += (packet.frame_bytes - 4) * 8_000_000_000 // self.rate_bps
"""
)

NEXT = (
    HEAD
    + """
class Told(QueueDiscipline):
    def __init__(self):
        self.waiting = []
        self.bytes = self.now_ns = 0

    def look(self, q):
        assert (q.qlen, q.backlog_bytes) == (len(self.waiting), sum(self.waiting)), q
        assert q.now_ns >= self.now_ns and q.frame_bytes_max == 1518
        self.now_ns = q.now_ns

    def enqueue(self, q, packet):
        self.look(q)
        assert packet.sojourn_ns == 0 and packet.enqueued_ns == q.now_ns
        assert 0 <= packet.payload_bytes < packet.frame_bytes <= 1518
        assert packet.ecn in {"ect0", "not-ect", "ce"}, packet.ecn
        self.expects_ce = packet.set_ce()
        assert packet.ecn == ("ce" if self.expects_ce else "not-ect")
        self.rank_ns = q.now_ns

    def rank(self, q, packet):
        assert packet.ecn == ("ce" if self.expects_ce else "not-ect")
        assert packet.rank == 0
        self.waiting.append(packet.frame_bytes)
        return q.now_ns

    def dequeue(self, q, packet):
        self.waiting.pop(0)
        self.look(q)
        assert packet.rank == packet.enqueued_ns
        assert packet.sojourn_ns in {q.now_ns - packet.enqueued_ns + d for d in (-1, 0, 1)}
        assert packet.in_port < 3 and packet.priority == 0
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


def codel(**settings: int | bool) -> str:
    """The built-in one with these settings."""
    said = ", ".join(f"{key} = {str(value).lower()}" for key, value in settings.items())
    said = said.replace("_us = ", " = ").replace("target = 500", 'target = "500us"')
    said = said.replace("interval = 5000", 'interval = "5000us"')
    return f"network.switch.buffer.queue={{ kind = 'codel', limit = 100000, {said} }}"


DCTCP = "stack.tcp_congestion_control=dctcp"
ECN = "stack.tcp_ecn=1"


@pytest.mark.parametrize(
    ("program", "mine", "built_in", "both"),
    [
        (STEP, [], ["network.switch.marking={ kind = 'step', threshold = '30kB' }"], [DCTCP]),
        (CODEL, [], [codel(ecn=False)], []),
        (CODEL, ["python.mine.set.ecn=true"], [codel(ecn=True)], [ECN]),
        (
            CODEL,
            ["python.mine.set={ target_us = 500, interval_us = 5000 }"],
            [codel(ecn=False, target_us=500, interval_us=5000)],
            ["workload.connections=6"],
        ),
        (
            PRIORITY,
            [],
            ["network.switch.buffer.scheduler={ strict = 2, priomap = [1, 0] }"],
            ["workload.priority=[0, 1]", "workload.connections=2", "workload.pair_window=1MB"],
        ),
        (
            SHAPER,
            [],
            [
                "network.switch.buffer.queue={ kind = 'cake', bandwidth = '50Mbit', rtt = '100s',"
                " diffserv_mode = 'besteffort', flow_mode = 'flowblind' }"
            ],
            ["network.switch.buffer.shared=64MB"],  # CAKE drops the first of what is too much
        ),
    ],
)
def test_a_port_of_a_built_in_one_gives_its_tables(
    program: str, mine: list[str], built_in: list[str], both: list[str], tmp_path: Path
) -> None:
    own = run(tmp_path, "own", scenario(tmp_path, program, OWN, *mine, *both))
    other = run(tmp_path, "built-in", scenario(tmp_path, program, *built_in, *both))
    flows = own.table("flows")
    assert flows["received_bytes"].sum() > 10_000_000
    assert flows.equals(other.table("flows"))
    assert own.summary.equals(other.summary)
    [summary] = own.summary.iter_rows(named=True)
    if program not in (PRIORITY, SHAPER):
        assert summary["switch_drops_mean"] + summary["marks_mean"] > 10


def test_it_may_be_at_one_port_alone(tmp_path: Path) -> None:
    at_one = "network.trunk.0.qdisc={ forward = { kind = 'python', name = 'mine' } }"
    results = run(tmp_path, "one", scenario(tmp_path, STEP, at_one, DCTCP))
    ports = results.table("ports").filter(pl.col("marks") > 0)
    assert ports["link"].to_list() == ["switch0>switch1"]


def test_it_is_told_what_is_so(tmp_path: Path) -> None:
    results = run(tmp_path, "told", scenario(tmp_path, NEXT, OWN, ECN))
    assert results.summary["marks_mean"].min() > 100
    assert results.summary["switch_drops_mean"].max() == 0


def test_it_is_the_same_at_one_and_two_jobs(tmp_path: Path) -> None:
    program = (
        f"import random\n{HEAD}class Drawn(QueueDiscipline):\n    def __init__(self):\n"
        "        self.random = random.Random(self.seed)\n\n    def dequeue(self, q, packet):\n"
        "        if self.random.random() < 0.001:\n            packet.drop()\n"
    )
    found = scenario(tmp_path, program, OWN, "run.repetitions=3")
    one, two = (run(tmp_path, f"jobs{jobs}", found, jobs=jobs) for jobs in (1, 2))
    assert one.table("flows").equals(two.table("flows"))
    assert one.table("flows")["received_bytes"].n_unique() == 6
    drops = one.table("drops").filter(pl.col("cause") == "early-drop")
    assert drops["frames"].sum() == one.summary["switch_drops_mean"].sum() > 10


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("x = 1\n", "python.mine: mine.py has no queue discipline; a class derived from"),
        (
            "import tailback\n\n\nclass Mine(tailback.CongestionControl):\n    pass\n",
            "mine.py has no queue discipline; a class derived from tailback.QueueDiscipline",
        ),
        (STEP + CODEL, "mine.py has 2 queue disciplines (Step, Codel); say which (class)"),
        (
            STEP + "    def __init__(self):\n        1 / 0\n",
            "line 12, in __init__: ZeroDiv",
        ),
    ],
)
def test_a_program_that_is_none_is_told_before_a_run(
    program: str, said: str, tmp_path: Path, command: Command
) -> None:
    scenario(tmp_path, program)
    file = str(tmp_path / "own.toml")
    for arguments in (["check", file], ["run", file, "-o", str(tmp_path / "results")]):
        done = command(*arguments, "--set", OWN)
        assert done.code == 2, done
        assert said in done.err
        assert "Traceback" not in done.err
    assert not list(tmp_path.glob("results*"))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("def rank(self, q, packet): return 0.5", "TypeError: a rank is a whole number of 64 bits"),
        ("def rank(self, q, packet): return 2**63", "TypeError: a rank is a whole number"),
        ("def due_ns(self, q, packet): return q.now_ns + 0.5", "due_ns answers whole nanoseconds"),
        ("def due_ns(self, q, packet): return -1", "since the run's beginning, and -1 are none"),
        ("def enqueue(self, q, packet): q.limit", "mine.py, line 5, in enqueue: AttributeError"),
        ("def dequeue(self, q, packet): packet.ecn = 'ce'", "line 5, in dequeue: AttributeError"),
        ("def dequeue(self, q): pass", "takes 2 positional arguments but 3 were given"),
    ],
)
def test_what_a_method_raises_fails_its_run_alone(
    body: str, said: str, tmp_path: Path, command: Command
) -> None:
    scenario(tmp_path, f"{HEAD}class Wrong(QueueDiscipline):\n    {body}\n")
    both = (
        "sweep={ 'network.switch.buffer.queue' = "
        "[{ kind = 'fifo' }, { kind = 'python', name = 'mine' }] }"
    )
    out = str(tmp_path / "results")
    done = command("run", str(tmp_path / "own.toml"), "-o", out, "--set", both)
    assert done.code == 1, done
    assert "1 of 2 runs failed" in done.err
    assert "run 1 (queue = python name=mine): mine.py, line 5" in done.err
    assert said in done.err
    assert "Traceback" not in done.err


def test_one_file_may_hold_a_queue_and_a_congestion_control(tmp_path: Path) -> None:
    program = (
        "from tailback import CongestionControl\n" + STEP + "\n\nclass Fixed(CongestionControl):\n"
        "    def cong_avoid(self, tp, acked):\n        tp.snd_cwnd = 100\n"
    )
    sends = "stack.tcp_congestion_control=python:mine"
    results = run(tmp_path, "both", scenario(tmp_path, program, OWN, sends, ECN))
    assert results.table("flows")["received_bytes"].min() > 1_000_000
    assert results.summary["marks_mean"].min() > 0


def test_real_networks_do_not_have_it(tmp_path: Path, command: Command) -> None:
    scenario(tmp_path, STEP)
    near = ["--set", "network.trunk.0.delay=10us", "--set", OWN]
    done = command("run", str(tmp_path / "own.toml"), "--backend", "namespaces", *near)
    assert done.code == 2
    assert "buffer.queue other than fifo" in done.err


def test_a_program_that_nothing_asks_for_is_told(tmp_path: Path) -> None:
    [told] = scenario(tmp_path, STEP).check()
    assert told["path"] == "python.mine"
    assert told["severity"] == "warning"
    assert told["reason"] == "nothing asks for this program"
    assert scenario(tmp_path, STEP, OWN).check() == []
