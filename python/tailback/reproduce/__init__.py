"""Published studies, run again and held against what was published."""

from tailback.reproduce.study import PUBLISHED, STUDIES, Reproduction, reproduce, reproduce_all

__all__ = ["PUBLISHED", "STUDIES", "Reproduction", "reproduce", "reproduce_all"]
