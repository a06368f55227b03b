"""The settings of evidence mapping: who may speak and in which ways. Light, so that importing sslart stays quick."""

from __future__ import annotations

from typing import NamedTuple

MEMBERS = {"spread": "propagated", "carried": "propagated"}
FAMILIES = ("box", "relevant", "feature", "linear", "subspace", "propagated")
MAX_BOXES = 4000


class Wishes(NamedTuple):
    """What the user has fixed: families, τ, λ, and the share of rank in the scale; None where labels shall decide."""

    families: tuple[str, ...] = FAMILIES
    width: float | None = None
    ridge: float | None = None
    share: float | None = None


class Key(NamedTuple):
    """One way to speak: the family, the share of rank in the scale, and τ, or what the family has in its place."""

    family: str
    share: float
    width: float


class Candidate(NamedTuple):
    """One mixture of ways to speak, its λ, and its weight among the chosen."""

    keys: tuple[Key, ...]
    ridge: float
    weight: float = 1.0


PLAIN = Candidate((Key("box", 0.5, 0.25),), 0.01)
