"""The one error of charts."""

from tailback.errors import InputError


class NothingToDrawError(InputError):
    """The results have nothing for this chart; the message says what is missing."""
