"""Fixtures that several test files use."""

import sys
from pathlib import Path

import pytest

import tailback
from helpers import SMALL, Answer, Command, FakeBackend
from tailback.cli.main import run_command
from tailback.errors import SimulationError


@pytest.fixture
def small() -> tailback.Scenario:
    """A sweep of four runs: two switches, 1 and 3 servers."""
    return tailback.load("incast-8mb").override(*SMALL)


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """Calls `tailback ARGS…` within this process."""

    def call(*args: str | Path) -> Answer:
        monkeypatch.setattr(sys, "argv", ["tailback", *map(str, args)])
        capfd.readouterr()
        code = run_command()
        return Answer(code, *capfd.readouterr())

    return call


@pytest.fixture
def fake() -> FakeBackend:
    return FakeBackend()


@pytest.fixture
def broken() -> FakeBackend:
    """Its run 1 fails."""
    return FakeBackend(fail={1: SimulationError("bytes are missing")})
