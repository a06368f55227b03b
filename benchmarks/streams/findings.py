"""The stored results of the stream benchmark, by stream, share of labels and method."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from scipy.stats import rankdata

from pieces import Result
from streams.capymoa_ssl import OSNN

SHARES = (0.01, 0.1, 1.0)
N_DRAWS = 3  # of labels, where not all samples have one
ONE_DRAW = (OSNN,)  # which takes a quarter of an hour for each stream
NOT_TAKEN = {(OSNN, "covtype")}  # it learns two classes only


def draws_of(share: float, method: str, draws: int = N_DRAWS) -> range:
    """Return the seeds of the draws of labels that a method is measured with."""
    return range(1, 2) if share == 1 or method in ONE_DRAW else range(1, draws + 1)


def percent(share: float) -> str:
    return f"{100 * share:g} %"


class Findings:
    """Means over the draws of labels, of the methods that are complete."""

    def __init__(self, results: Iterable[Result], streams: Sequence[str], draws: int = N_DRAWS) -> None:
        self.streams, self.draws = list(streams), draws
        self._values: dict[tuple[str, float, str], dict[int, Result]] = {}
        for result in results:
            key = result["stream"], result["share"], result["method"]
            self._values.setdefault(key, {})[result["seed"]] = result

    def has(self, stream: str, share: float, method: str) -> bool:
        """Return True if all draws of a method are there."""
        return set(draws_of(share, method, self.draws)) <= set(self._values.get((stream, share, method), {}))

    def of(self, stream: str, share: float, method: str, measure: str = "accuracy") -> np.ndarray:
        """Return the values of all draws."""
        found = self._values[stream, share, method]
        return np.array([found[seed][measure] for seed in draws_of(share, method, self.draws)], dtype=float)

    def mean(self, stream: str, share: float, method: str, measure: str = "accuracy") -> float:
        return float(self.of(stream, share, method, measure).mean())

    def mean_accuracy(self, share: float, method: str) -> float:
        """Return the mean over the streams."""
        return float(np.mean([self.mean(stream, share, method) for stream in self.streams]))

    def complete(self, share: float, methods: Iterable[str]) -> list[str]:
        """Return the methods that are measured on all streams."""
        return [method for method in methods if all(self.has(stream, share, method) for stream in self.streams)]

    def ranked(self, share: float, methods: Iterable[str]) -> list[str]:
        """Return the methods that are measured on all streams that they can learn."""
        return [
            method
            for method in methods
            if all(self.has(stream, share, method) or (method, stream) in NOT_TAKEN for stream in self.streams)
        ]

    def any_of(self, share: float, methods: Iterable[str]) -> list[str]:
        """Return the methods that are measured on at least one stream."""
        return [method for method in methods if any(self.has(stream, share, method) for stream in self.streams)]

    def ranks(self, share: float, methods: Sequence[str]) -> dict[str, float]:
        """Return the mean rank of each method: 1 is the best, equal ones share their ranks.

        On each stream those count that are measured there.
        """
        places: dict[str, list[float]] = {method: [] for method in methods}
        for stream in self.streams:
            there = [method for method in methods if self.has(stream, share, method)]
            found = np.round([self.mean(stream, share, method) for method in there], 9)
            for method, place in zip(there, rankdata(-found).tolist() if there else [], strict=True):
                places[method].append(place)
        return {method: float(np.mean(values)) for method, values in places.items() if values}
