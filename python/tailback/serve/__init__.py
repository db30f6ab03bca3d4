"""Results in a browser: `tailback serve`. Reads run folders, writes nothing."""

from tailback.serve.server import DEFAULT_PORT, LOOPBACK, Server

__all__ = ["DEFAULT_PORT", "LOOPBACK", "Server"]
