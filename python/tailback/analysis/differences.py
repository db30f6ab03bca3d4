"""Where two resolved scenarios differ, by the paths of scenario files."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from tailback.scenario import built_in

_WORDS = {"name", "title", "study", "description", "record"}
"""What is told of a scenario, or recorded of it, and changes nothing in its runs."""
_HOW_MANY = {"workload.iterations", "run.repetitions", "run.seed"}
"""How much of a study is run."""


def differences(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[str]:
    """Return the paths at which `a` and `b` have other values.

    An axis that has only some of the other's values is no difference: these points are the same.
    """
    return list(_apart(a, b, lambda one, two: _holds(one, two) or _holds(two, one)))


def departures(scenario: Mapping[str, Any]) -> list[str]:
    """Return the paths at which a scenario is another than the built-in one of its name.

    Fewer iterations or points, other repetitions, another seed and what is recorded are the same
    scenario; so is one whose name is not built in.
    """
    own = built_in().get(str(scenario.get("name")))
    if own is None:
        return []
    found = _apart(scenario, own.resolved, lambda ours, theirs: _holds(theirs, ours))
    return [path for path in found if path not in _HOW_MANY]


def share(scenario: Mapping[str, Any]) -> list[str]:
    """Return how many of the iterations and points of the built-in scenario one has, if fewer."""
    own = built_in().get(str(scenario.get("name")))
    if own is None:
        return []
    theirs = own.resolved
    counts = {
        "iterations": (_iterations(scenario), _iterations(theirs)),
        "points": (_points(scenario), _points(theirs)),
    }
    return [f"{n:,} of {every:,} {what}" for what, (n, every) in counts.items() if n < every]


_Same = Callable[[Sequence[Any], Sequence[Any]], bool]
"""Whether two axes of a sweep are of the same points."""


def _apart(a: Mapping[str, Any], b: Mapping[str, Any], same: _Same) -> Iterator[str]:
    for key in dict.fromkeys((*a, *b)):
        if key in _WORDS:
            continue
        one, two = a.get(key) or {}, b.get(key) or {}
        if key == "sweep":
            for axis in dict.fromkeys((*one, *two)):
                if axis not in one or axis not in two or not same(one[axis], two[axis]):
                    yield f"sweep.{axis}"
        elif key == "preset":
            yield from _presets(one, two)
        else:
            yield from _paths(key, one, two)


def _presets(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[str]:
    """Of presets that both have: one that only one has is named at the path that asks for it."""
    for kind in a:
        for name in a[kind]:
            if name in b.get(kind, {}):
                yield from _paths(f"preset.{kind}.{name}", a[kind][name], b[kind][name])


def _paths(path: str, a: object, b: object) -> Iterator[str]:
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        for key in dict.fromkeys((*a, *b)):
            if key not in a or key not in b:
                yield f"{path}.{key}"
            else:
                yield from _paths(f"{path}.{key}", a[key], b[key])
    elif _tables(a) and _tables(b) and len(a) == len(b):
        for i, (one, two) in enumerate(zip(a, b, strict=True)):
            yield from _paths(f"{path}.{i}", one, two)
    elif a != b:
        yield path


def _tables(value: object) -> TypeGuard[list[Mapping[str, Any]]]:
    return isinstance(value, list) and all(isinstance(item, Mapping) for item in value)


def _holds(every: Sequence[Any], some: Sequence[Any]) -> bool:
    return all(value in every for value in some)


def _iterations(scenario: Mapping[str, Any]) -> int:
    return int(scenario["workload"].get("iterations", 1))


def _points(scenario: Mapping[str, Any]) -> int:
    count = 1
    for values in (scenario.get("sweep") or {}).values():
        count *= len(values)
    return count
