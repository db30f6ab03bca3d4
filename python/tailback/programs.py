"""Programs of the user's own in a scenario, `[python.NAME]`: reads them, makes their objects, and
tells what they raise.
"""

import linecache
import sys
import traceback
import types
from collections.abc import Callable, Mapping
from pathlib import PurePath

from tailback.congestion_control import CongestionControl
from tailback.errors import InputError
from tailback.nearest import meant
from tailback.queue_discipline import QueueDiscipline

Value = bool | int | float | str
"""What a scenario can set."""

Program = CongestionControl | QueueDiscipline
"""An object of a program's class."""

BASES: dict[str, type[Program]] = {
    base.__name__: base for base in (CongestionControl, QueueDiscipline)
}
"""What a program is derived from, by name."""

_WHAT: dict[type[Program], str] = {
    CongestionControl: "congestion control",
    QueueDiscipline: "queue discipline",
}


def read(
    name: str,
    source: str,
    file: str | None,
    class_name: str | None,
    settings: Mapping[str, Value],
    base_name: str,
) -> type[Program]:
    """The class that the table `[python.name]` of a scenario means as a `CongestionControl` or a
    `QueueDiscipline` (`base_name`), with its attributes set.

    Raises `InputError` if the text is no Python, or has no such class, or a setting is none of it.
    """
    at = f"python.{name}"
    shown = file or f"{name}.py"
    # Modules are told apart by their names: two tables may have one file.
    module = types.ModuleType(f"tailback_python_{name}")
    module.__file__ = shown
    # So that tracebacks show the lines, wherever the text comes from.
    linecache.cache[shown] = (len(source), None, source.splitlines(keepends=True), shown)
    sys.modules[module.__name__] = module
    try:
        # To run the user's own program is what the user asks for.
        exec(compile(source, shown, "exec"), module.__dict__)  # noqa: S102
    except (Exception, SystemExit) as error:
        raise InputError(f"{at}: {told(error)}") from error
    found = _class(at, module, shown, class_name, BASES[base_name])
    for key, value in settings.items():
        _check_setting(at, found, key, value)
    return type(found.__name__, (found,), dict(settings)) if settings else found


def check(name: str, program: type[Program]) -> None:
    """Raises `InputError` if no object of the class can be made."""
    try:
        make(program, seed=0)
    except (Exception, SystemExit) as error:
        raise InputError(f"python.{name}: {told(error)}") from error


def make(program: type[Program], seed: int) -> Program:
    """One of the class, for a connection or a queue with this seed."""
    made = program.__new__(program)
    made.seed = seed
    made.__init__()  # type: ignore[misc]  # the seed is there before
    return made


def told(error: BaseException, hook: Callable[..., object] | None = None) -> str:
    """An exception in a user's program, called by `hook`, in one line: where, and what."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}, line {error.lineno}: {error.msg}"
    frames = traceback.extract_tb(error.__traceback__)
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    # The last line of the user's own, not of this module or of a library that it called.
    own = [frame for frame in frames if frame.filename != __file__]
    if not own:
        code = getattr(hook, "__code__", None)
        where = code and f"{code.co_filename}, line {code.co_firstlineno}, in {code.co_name}: "
        return f"{where or ''}{what}"
    first = own[0].filename
    last = [frame for frame in own if frame.filename == first][-1]
    return f"{last.filename}, line {last.lineno}, in {last.name}: {what}"


def is_base(program: type[Program], name: str) -> bool:
    """Whether a method is the base class's own, which need not be called."""
    base = next(base for base in BASES.values() if issubclass(program, base))
    return getattr(program, name) is getattr(base, name)


def _class(
    at: str,
    module: types.ModuleType,
    shown: str,
    class_name: str | None,
    base: type[Program],
) -> type[Program]:
    classes: dict[str, type[Program]] = {
        key: value
        for key, value in vars(module).items()
        if isinstance(value, type)
        and issubclass(value, base)
        and value.__module__ == module.__name__
    }
    what, derive = _WHAT[base], f"a class derived from tailback.{base.__name__}"
    if class_name is not None:
        if class_name in classes:
            return classes[class_name]
        remedy = meant(class_name, list(classes), derive)
        raise InputError(f"{at}.class: {shown} has no {what} {class_name!r}; {remedy}")
    if len(classes) == 1:
        return next(iter(classes.values()))
    if not classes:
        raise InputError(f"{at}: {PurePath(shown).name} has no {what}; {derive}")
    raise InputError(
        f"{at}: {shown} has {len(classes)} {what}s ({', '.join(classes)}); say which (class)"
    )


def _check_setting(at: str, program: type[Program], key: str, value: Value) -> None:
    mine = [
        name
        for cls in program.__mro__[:-1]
        for name, held in vars(cls).items()
        if not name.startswith("_") and isinstance(held, bool | int | float | str)
    ]
    if key not in mine:
        remedy = meant(key, mine, "an attribute of the class with a value")
        raise InputError(f"{at}.set.{key}: {program.__name__} has no such attribute; {remedy}")
    held = getattr(program, key)
    numbers = (int, float)
    fits = (
        isinstance(value, numbers) and not isinstance(value, bool)
        if isinstance(held, numbers) and not isinstance(held, bool)
        else type(value) is type(held)
    )
    if not fits:
        raise InputError(
            f"{at}.set.{key}: {value!r} is no {type(held).__name__}, as {program.__name__}.{key} is"
        )
