"""Published studies, run again and held against what was published."""

from tailback.reproduce.study import STUDIES, Reproduction, reproduce

__all__ = ["STUDIES", "Reproduction", "reproduce"]
