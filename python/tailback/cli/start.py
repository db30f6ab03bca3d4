"""Entry point of the `tailback` program: Ctrl-C while it is loaded is no traceback either."""

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Loads the command line and runs it."""
    try:
        from tailback.cli.main import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)
