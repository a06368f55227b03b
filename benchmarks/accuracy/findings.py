"""The stored results of the accuracy benchmark, by set, method and measure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata

from accuracy.contenders import TABPFN, rivals, takes_tabpfn
from accuracy.sets import repeats_of

Result = dict[str, Any]
OURS = "ours"  # the name under which ours is stored, whichever estimator it is
TIE = 0.05  # points of accuracy: less is no difference


class Findings:
    """Results of the sets that are complete."""

    def __init__(self, results: Iterable[Result], sets: Sequence[str], repeats: int) -> None:
        self.repeats = repeats
        self.values: dict[tuple[str, str], dict[int, Result]] = {}
        for result in results:
            if result["repeat"] < repeats_of(result["set"], repeats):
                self.values.setdefault((result["set"], result["method"]), {})[result["repeat"]] = result
        self.has_ours = any(method == OURS for _, method in self.values)
        self.sets = [name for name in sets if self._complete(name)]
        self.left_out = [name for name in sets if name not in self.sets]
        self.of_tabpfn = [name for name in self.sets if takes_tabpfn(name) and self._has(name, TABPFN)]
        self.has_tabpfn = bool(self.of_tabpfn)

    def _complete(self, dataset: str) -> bool:
        wanted = [*rivals(dataset), *([OURS] if self.has_ours else [])]
        return all(self._has(dataset, method) for method in wanted)

    def _has(self, dataset: str, method: str) -> bool:
        return len(self.values.get((dataset, method), {})) == repeats_of(dataset, self.repeats)

    def of(self, dataset: str, method: str, measure: str = "accuracy") -> np.ndarray:
        """Return the values of all repetitions."""
        found = self.values[dataset, method]
        return np.array([found[repeat][measure] for repeat in sorted(found)], dtype=float)

    def mean(self, dataset: str, method: str, measure: str = "accuracy") -> float:
        """Return the mean over the repetitions."""
        return float(self.of(dataset, method, measure).mean())

    def means(self, sets: Sequence[str], method: str, measure: str = "accuracy") -> np.ndarray:
        """Return the mean over the repetitions, for each set."""
        return np.array([self.mean(dataset, method, measure) for dataset in sets])

    def tabpfn_on(self, sets: Iterable[str]) -> list[str]:
        """Return TabPFN v1 as a list, empty where it was not measured on all of the sets."""
        return [TABPFN] if set(sets) <= set(self.of_tabpfn) else []

    def among(self, sets: Iterable[str]) -> list[str]:
        return [name for name in sets if name in self.sets]

    def contenders(self, names: Iterable[str]) -> list[str]:
        return [*([OURS] if self.has_ours else []), *names]

    def ranks(self, sets: Sequence[str], methods: Sequence[str]) -> dict[str, float]:
        """Return the mean rank of each method: 1 is the best, equal ones share their ranks."""
        found = np.round([self.means(sets, method) for method in methods], 9)
        return dict(zip(methods, rankdata(-found, axis=0).mean(axis=1).tolist(), strict=True))


def balance(differences: np.ndarray) -> str:
    """Return on how many sets ours is ahead / level / behind."""
    won, lost = np.sum(differences >= TIE), np.sum(differences <= -TIE)
    return f"{won} / {len(differences) - won - lost} / {lost}"
