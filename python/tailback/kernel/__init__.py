"""Real Linux kernels as hosts: building, keeping and checking them.

A kernel is User-Mode Linux: an ordinary process of an ordinary user. It is built once from a
distribution's source package and kept in the user's cache.
"""

from tailback.kernel.cache import Kernel, find, installed

__all__ = ["Kernel", "find", "installed"]
