"""Congestion controls against their closed forms: `tailback reproduce response-functions`."""

from tailback.reproduce.response.run import ResponseFunctions, response_functions

__all__ = ["ResponseFunctions", "response_functions"]
