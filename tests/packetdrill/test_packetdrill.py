"""The runner of packetdrill scripts and the shared object, with a stand-in for packetdrill."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

SERVER = """
fd, first = established()
start = now()
assert write(fd, 2000) == 2000
segments = [sniff(), sniff()]
assert [s.payload for s in segments] == [536, 536], "no MSS option, so RFC 9293's default"
assert segments[0].seq == first and segments[0].at - start < 10
inject("A", 1, first + 1072)
assert sum(sniff().payload for _ in range(2)) == 2000 - 1072
again = sniff()
assert again.at - start > 100_000, "time passes until something is retransmitted"
inject("R", 1)
assert read(fd, 10) == -104, "ECONNRESET"
assert number("close", fd) == 0
assert sniff() is None, "nothing is left that could send"
"""

BLOCKING = """
fd, first = established()
answer = in_thread(lambda: read(fd, 1000))
start = now()
number("usleep", 50_000)
inject("PA", 1, first, payload=300)
count, at = answer()
assert count == 300
assert 50_000 <= at - start < 50_010, "it returns when the data comes, however threads run"
events = in_thread(lambda: number("poll", b"\\0" * 8, 0, 20))
start = now()
number("usleep", 30_000)
assert events()[1] - start in range(20_000, 20_010), "a timeout of poll is virtual too"
"""

SETTINGS = """
assert shell("cat /proc/sys/net/ipv4/tcp_sack") == "1"
shell("sysctl -q net.ipv4.tcp_sack=0; echo 0 > /proc/sys/net/ipv4/tcp_window_scaling")
assert shell("cat /proc/sys/net/ipv4/tcp_sack") == "0"
shell("echo 2 > /sys/module/tcp_cubic/parameters/hystart_detect; tc qdisc add dev tun0 root fq")
listener()
inject("S", 0, options=bytes([2, 4, 5, 180, 4, 2, 1, 3, 3, 7]) + bytes(2))
assert sniff().options == bytes([2, 4, 5, 180]), "neither SACK nor window scaling is granted"
"""

TCP_INFO = """
fd, _ = established()
info, size = ctypes.create_string_buffer(300), ctypes.c_uint(300)
libc_so = ctypes.CDLL(None, use_errno=True)
assert libc_so.getsockopt(fd, libc.IPPROTO_TCP, libc.TCP_INFO, info, ctypes.byref(size)) == 0
assert size.value == 280
assert info.raw[0] == 1, "established"
own = libc.socket()
assert own.getsockopt(libc.SOL_SOCKET, libc.SO_TYPE) == libc.SOCK_STREAM, "others' are libc's"
"""

OTHER = """
inject("S", 5)
answer = sniff()
assert (answer.flags, answer.ack) == ("RA", 6), "nobody listens"
assert number("socket", libc.AF_INET, libc.SOCK_DGRAM, 0) == -93
fd = number("socket", libc.AF_INET, libc.SOCK_STREAM | libc.SOCK_NONBLOCK, 0)
assert number("connect", fd, *address(REMOTE, PEER_PORT)) == -115
assert sniff().flags == "S"
assert read(fd, 10) == -11
"""

SCRIPTS = {
    "server": SERVER,
    "blocking": BLOCKING,
    "settings": SETTINGS,
    "tcp-info": TCP_INFO,
    "other": OTHER,
}


@pytest.fixture(scope="session")
def built() -> Path:
    """The folder with what crates/packetdrill builds."""
    command = ["cargo", "build", "--quiet", "--locked", "-p", "tailback-packetdrill"]
    messages = subprocess.run(
        [*command, "--message-format=json"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    return built_folder(messages)


def built_folder(messages: str) -> Path:
    """Where cargo says that it put the program beside the library."""
    for line in messages.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == "packetdrill-view":
            return Path(message["executable"]).parent
    raise AssertionError(messages)


def run(built: Path, folder: Path, driver: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            sys.executable,
            ROOT / "tools" / "packetdrill",
            "--packetdrill",
            driver,
            "--built",
            built,
            "--ip-version=ipv4",
            folder,
        ],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def driver(tmp_path: Path) -> Path:
    program = tmp_path / "driver"
    code = Path(__file__).with_name("driver.py")
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {code} "$@"\n')
    program.chmod(0o755)
    return program


def test_scripts_run_each_in_a_view_of_its_own(built: Path, driver: Path, tmp_path: Path) -> None:
    before = Path("/proc/sys/net/ipv4/tcp_sack").read_text()
    folder = tmp_path / "scripts"
    (folder / "deep").mkdir(parents=True)
    for name, text in SCRIPTS.items():
        (folder / "deep" / f"{name}.pkt").write_text(text)
    done = run(built, folder, driver)
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] == "5 passed, 0 failed, 0 not applicable", done.stdout
    assert done.returncode == 0
    assert Path("/proc/sys/net/ipv4/tcp_sack").read_text() == before


def test_a_table_says_what_failed_and_what_does_not_apply(
    built: Path, driver: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "scripts"
    folder.mkdir()
    (folder / "a-wrong.pkt").write_text("raise SystemExit('expected: 1 actual: 2')")
    (folder / "b-fast-open.pkt").write_text("+0 setsockopt(3, SOL_TCP, TCP_FASTOPEN, [1], 4) = 0")
    (folder / "c-comment.pkt").write_text("pass  # and a // comment: splice() is not called")
    done = run(built, folder, driver)
    lines = done.stdout.splitlines()
    assert [line.split()[:2] for line in lines[:3]] == [
        ["failed", "a-wrong.pkt"],
        ["not", "applicable"],
        ["passed", "c-comment.pkt"],
    ]
    assert "ipv4: expected: 1 actual: 2" in lines[0]
    assert "TCP Fast Open" in lines[1]
    assert lines[3] == "1 passed, 1 failed, 1 not applicable"
    assert done.returncode == 1


def test_what_is_missing_is_named(built: Path, tmp_path: Path) -> None:
    done = run(built, tmp_path, tmp_path / "nowhere")
    assert done.returncode == 2
    assert "nowhere" in done.stderr


def test_a_folder_in_place_of_the_binary_is_refused_before_scripts_run(
    built: Path, tmp_path: Path
) -> None:
    done = run(built, tmp_path, tmp_path)
    assert done.returncode == 2
    assert f"{tmp_path}: not a program" in done.stderr
    assert not done.stdout
