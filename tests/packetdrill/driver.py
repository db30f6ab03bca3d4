"""A small stand-in for packetdrill: loads the shared object and runs a script, which is Python.

What it takes of packetdrill's command line is `--so_filename`; the script is the last argument. The
script sees the functions of this file. It is run inside a view, as packetdrill is.
"""

import ctypes
import socket as libc
import struct
import subprocess
import sys
import threading
from pathlib import Path

# The table's functions in their order (packetdrill.h), after `userdata`.
NAMES = [
    "free",
    "socket",
    "bind",
    "listen",
    "accept",
    "connect",
    "read",
    "readv",
    "recv",
    "recvfrom",
    "recvmsg",
    "write",
    "writev",
    "send",
    "sendto",
    "sendmsg",
    "fcntl",
    "ioctl",
    "close",
    "shutdown",
    "getsockopt",
    "setsockopt",
    "poll",
    "netdev_send",
    "netdev_receive",
    "usleep",
    "gettimeofday",
    "epoll_create",
    "epoll_ctl",
    "epoll_wait",
    "pipe",
    "splice",
]
LOCAL, REMOTE = "192.168.0.1", "192.0.2.1"
PEER_PORT, PORT = 40000, 8080
FLAGS = "FSRPAUEW"

options = dict(word[2:].split("=", 1) for word in sys.argv[1:-1] if word.startswith("--"))
library = ctypes.CDLL(options["so_filename"], use_errno=True)
table = (ctypes.c_void_p * (len(NAMES) + 1))()
library.packetdrill_interface_init(options.get("so_flags", "").encode(), table)


def call(name, *arguments, result=ctypes.c_long):
    """Calls a function of the table; a negative answer is the negative errno."""
    function = ctypes.CFUNCTYPE(result, use_errno=True)(table[1 + NAMES.index(name)])
    answer = function(None, *arguments)
    return answer if answer >= 0 else -ctypes.get_errno()


def number(name, *arguments):
    """Calls a function that answers an int."""
    return call(name, *arguments, result=ctypes.c_int)


def address(host, port):
    """A sockaddr_in, and its length."""
    return struct.pack("=H", libc.AF_INET) + struct.pack("!H4s8x", port, libc.inet_aton(host)), 16


def listener():
    """A socket that listens on PORT."""
    fd = number("socket", libc.AF_INET, libc.SOCK_STREAM, 0)
    assert number("bind", fd, *address(LOCAL, PORT)) == 0
    assert number("listen", fd, 5) == 0
    return fd


def now():
    """Virtual time, microseconds."""
    value = (ctypes.c_long * 2)()
    number("gettimeofday", value, None)
    return value[0] * 1_000_000 + value[1]


def checksum(data):
    """The Internet checksum."""
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def inject(flags, seq, ack=0, payload=0, window=65535, options=b""):
    """A segment from the peer arrives."""
    bits = sum(1 << FLAGS.index(flag) for flag in flags)
    words = (20 + len(options)) // 4
    head = struct.pack("!HHIIBBHHH", PEER_PORT, PORT, seq, ack, words << 4, bits, window, 0, 0)
    tcp = head + options + b"\0" * payload
    ends = libc.inet_aton(REMOTE) + libc.inet_aton(LOCAL)
    total = checksum(ends + struct.pack("!HH", 6, len(tcp)) + tcp)
    tcp = tcp[:16] + struct.pack("!H", total) + tcp[18:]
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(tcp), 1, 0, 64, 6, 0) + ends
    ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
    assert number("netdev_send", ip + tcp, len(ip + tcp)) == 0


class Packet:
    """A segment that the stack sent."""

    def __init__(self, data, at):
        assert checksum(data[:20]) == 0
        assert checksum(data[12:20] + struct.pack("!HH", 6, len(data) - 20) + data[20:]) == 0
        _, _, self.seq, self.ack, words, bits, self.window = struct.unpack("!HHIIBBH", data[20:36])
        self.flags = "".join(flag for at, flag in enumerate(FLAGS) if bits >> at & 1)
        self.payload = len(data) - 20 - (words >> 4) * 4
        self.options = data[40 : 20 + (words >> 4) * 4]
        self.at = at


def sniff():
    """The next segment that the stack sends; none if it never will."""
    data = ctypes.create_string_buffer(70_000)
    count, at = ctypes.c_size_t(len(data)), ctypes.c_longlong()
    assert number("netdev_receive", data, ctypes.byref(count), ctypes.byref(at)) == 0
    return Packet(data.raw[: count.value], at.value) if count.value else None


def established():
    """A connection that the peer has opened: its descriptor and our first sequence number."""
    fd = listener()
    inject("S", 0)
    answer = sniff()
    assert answer.flags == "SA"
    assert answer.ack == 1
    inject("A", 1, answer.seq + 1)
    accepted = number("accept", fd, None, None)
    assert accepted >= 0
    return accepted, answer.seq + 1


def read(fd, most):
    """How many bytes a read got."""
    return call("read", fd, ctypes.create_string_buffer(most), ctypes.c_size_t(most))


def write(fd, count):
    """How many bytes a write took."""
    return call("write", fd, b"\0" * count, ctypes.c_size_t(count))


def shell(command):
    """What a command prints."""
    return subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, check=True
    ).stdout.strip()


def in_thread(function):
    """Makes a call that blocks; `join` gives its answer and the time at which it returned."""
    result = []

    def run():
        answer = function()
        result.extend([answer, now()])

    thread = threading.Thread(target=run)
    thread.start()
    state = Path(f"/proc/self/task/{thread.native_id}/stat")
    while thread.is_alive() and state.read_text().rsplit(")", 1)[1].split()[0] != "S":
        pass

    def join():
        thread.join()
        return result

    return join


exec(compile(Path(sys.argv[-1]).read_text(), sys.argv[-1], "exec"))
