"""The kernel that `make test` has built or found: it boots and does what runs need."""

import json
from pathlib import Path

from helpers import Command


def test_the_kernel_works(command: Command) -> None:
    answer = command("kernel", "check", "--json")
    assert answer.code == 0, answer.err
    findings = {finding["what"]: finding for finding in json.loads(answer.out)}
    for what in ("time travel", "seeded entropy", "virtual time", "congestion controls", "qdiscs"):
        assert findings[what]["works"], findings[what]
    assert {"bbr", "bic", "cubic", "dctcp"} <= set(findings["congestion controls"]["found"].split())
    assert findings["seccomp"]["works"] or findings["ptrace"]["works"]


def test_a_program_that_is_no_such_kernel_fails(command: Command) -> None:
    answer = command("kernel", "check", Path("/bin/true"))
    assert answer.code == 1
    assert "not built in: virtual time is impossible" in answer.out
