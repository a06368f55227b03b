"""Many labels: some of them screen the candidates, so that few candidates are tried on all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np

from sslart._mapping.evidence.families import family_of
from sslart._mapping.evidence.trial import Candidate, Specs, TakingPart, Trial, ridges_of
from sslart._utils.arrays import FloatArray

MAX_UNSCREENED = 150  # labels; of more, some screen
MIN_SCREENING, N_SCREENING = 50, 200  # labels of either half that screen
LABELS_PER_CLASS = 3  # of fewer, in all, none screen
FEW_BOXES = 600  # of the trial on half of the labels, which only screens
MIN_BASES, USUAL_LABELS = 6, 400  # bases that remain of so many labels; of fewer labels more bases, at the same cost
CLEARLY = 2.0  # standard errors

Item = TypeVar("Item")


def screened(trial: Trial, taking_part: TakingPart, *, is_coarse: bool = False) -> TakingPart:
    """Return the candidates without those that some of the labels and boxes show to be behind.

    The labels of blocks of even number screen for the views without a block of odd number, and the other way round, so
    that a label has no part in the view without its block. A coarse grid is screened; what lies beside the best in the
    whole grid takes part too. `is_coarse`: whether the grid is one of few values, of which few bases remain.
    """
    labelled = trial.labelled
    n, n_few = len(labelled.classes), max(N_SCREENING, LABELS_PER_CLASS * labelled.n_classes)
    if n <= max(MAX_UNSCREENED, LABELS_PER_CLASS * labelled.n_classes):
        return taking_part
    halves = [labelled.restricted(np.flatnonzero(labelled.blocks % 2 == half)).drawn(n_few) for half in (0, 1)]
    if min(len(half.classes) for half in halves) < MIN_SCREENING:  # groups are few
        return taking_part
    grid = _Grid(taking_part)
    if not grid.coarse:
        return taking_part
    losses = [_losses(trial.of_part(half, FEW_BOXES), grid.coarse) for half in halves]
    n_bases = MIN_BASES if is_coarse else max(MIN_BASES, round(MIN_BASES * (USUAL_LABELS / n) ** 2))
    found: TakingPart = {}
    for own, views in (
        (np.hstack(losses), slice(0, 1)),
        (losses[1], slice(1, None, 2)),
        (losses[0], slice(2, None, 2)),
    ):
        for candidate in grid.fine(_best(grid.coarse, own, n_bases), n_bases // 2):
            found.setdefault(candidate, np.zeros_like(taking_part[candidate]))[views] = True
    found |= {one: taking_part[one] for one in grid.alone}
    return {one: found[one] for one in taking_part if one in found}


def _losses(trial: Trial, candidates: Iterable[Candidate]) -> FloatArray:
    """Return the loss of each candidate on each label, shape (n_candidates, n_labels)."""
    fits = (fit for specs, ridges in ridges_of(candidates).items() for fit in trial.fits(specs, ridges))
    return np.array([trial.losses(fit.left_out) for fit in fits])


def _best(candidates: Sequence[Candidate], losses: FloatArray, n_bases: int) -> list[Candidate]:
    """Return the best bases, each with its best λ, and the best of each kind that is not clearly behind.

    Functions that depend on labels gain most from further labels: the best of them take part in any case.
    """
    order = np.argsort(losses.sum(axis=1), kind="stable")
    behind = losses - losses[order[0]]
    is_clear = behind.sum(axis=1) > CLEARLY * np.sqrt((behind**2).sum(axis=1))
    of_specs: dict[Specs, int] = {}
    for place in order.tolist():
        of_specs.setdefault(candidates[place][0], place)
    found, kinds = [], set()
    for rank, (specs, place) in enumerate(of_specs.items()):
        kind = tuple(spec.kind for spec in specs)
        is_new = kind not in kinds
        if (is_new or rank < n_bases) and (not is_clear[place] or (is_new and _gains_from_labels(specs))):
            kinds.add(kind)
            found.append(candidates[place])
    return found


def _gains_from_labels(specs: Specs) -> bool:
    return any(family_of(spec).gains_from_labels for spec in specs)


class _Grid:
    """All candidates: bases of the same kinds on the same scales lie on a line, and the values of λ on another.

    `coarse`: those that are screened. `alone`: the only one of a family that gains from labels, which takes part in any
    case.
    """

    def __init__(self, candidates: Iterable[Candidate]) -> None:
        self._ridges = ridges_of(candidates)
        lines: dict[tuple[tuple[str, float], ...], list[Specs]] = {}
        for specs in self._ridges:
            lines.setdefault(tuple((spec.kind, spec.rank_weight) for spec in specs), []).append(specs)
        self._line_of = {specs: line for line in lines.values() for specs in line}
        of_lines = [
            [
                (specs, ridge)
                for specs in line[1::2] or line
                for ridge in self._ridges[specs][1::3] or self._ridges[specs]
            ]
            for line in lines.values()
        ]
        self.alone = {own[0] for own in of_lines if len(own) == 1 and _gains_from_labels(own[0][0])}
        self.coarse = [one for own in of_lines for one in own if one not in self.alone]

    def fine(self, best: Sequence[Candidate], n_centres: int) -> list[Candidate]:
        """Return the best candidates, followed by the grid neighbours of the first `n_centres`."""
        found = list(best)
        for specs, ridge in best[:n_centres]:
            found += [(specs, other) for other in _beside(ridge, self._ridges[specs])]
            found += [(other, ridge) for other in _beside(specs, self._line_of[specs]) if ridge in self._ridges[other]]
        return found


def _beside(one: Item, line: Sequence[Item]) -> list[Item]:
    at = line.index(one)
    return [*line[max(at - 1, 0) : at], *line[at + 1 : at + 2]]
