"""sslart's classifiers in the stream, one sample at a time or in blocks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from sslart import SSLART, AutoSSLART
from streams.protocol import HIDDEN

BLOCK = 100
OURS = "AutoSSLART, half_life='auto'"
IN_BLOCKS = f"{OURS}, blocks of {BLOCK}"


class Ours:
    """A classifier that learns blocks of samples; each block is predicted before any of it is learnt."""

    def __init__(self, model: Any, block: int) -> None:
        self.model = model
        self.block = block
        self._has_label = False

    def prepare(self, X: np.ndarray) -> np.ndarray:
        return X

    def predict(self, samples: np.ndarray) -> list[int | None]:
        if not self._has_label:
            return [None] * len(samples)
        found: list[int | None] = self.model.predict(samples).tolist()
        return found

    def learn(self, samples: np.ndarray, labels: list[int]) -> None:
        self.model.partial_fit(samples, np.array(labels))
        self._has_label = self._has_label or max(labels) != HIDDEN


def variants(half_lives: list[int | str]) -> dict[str, Callable[[int, int], Ours]]:
    """Return ours by name, each from the number of classes and a seed; one more for each `half_life`."""
    made: dict[str, Callable[[int, int], Ours]] = {
        OURS: lambda n, seed: Ours(AutoSSLART(half_life="auto", random_state=seed), 1),
        IN_BLOCKS: lambda n, seed: Ours(AutoSSLART(half_life="auto", random_state=seed), BLOCK),
        "AutoSSLART": lambda n, seed: Ours(AutoSSLART(random_state=seed), 1),
        "SSLART, one-to-many": lambda n, seed: Ours(SSLART(random_state=seed), 1),
    }
    for half_life in half_lives:
        make = partial(AutoSSLART, half_life=half_life)
        made[f"AutoSSLART, half_life={half_life!r}"] = lambda n, seed, make=make: Ours(make(random_state=seed), 1)
    return made
