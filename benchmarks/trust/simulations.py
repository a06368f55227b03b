"""Simulations of the trust benchmark: data, perturbations and measurements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

from threadpoolctl import threadpool_limits

from accuracy.sets import ORDER
from trust import draws, measures
from trust.conformal import RIVALS, possible_levels, sets_of_mapie

N_LABELS = (10, 20, 40, 80, 150)
N_REPEATS, N_REPEATS_OF_OTHERS, N_REPEATS_OF_RIVALS = 3, 2, 1  # of the plain splits, of changed ones, of MAPIE
NOISE_FEATURES, NOISE_LABELS, NOISE_CLASSES, NOISE_REPEATS = (20, 100, 500, 2000), 30, 3, 10
COPIES_LABELS, CHANGES_LABELS = 40, 80

PLAIN, NOISE, LATER = "plain", "noise", "later rows"
GROUPED = "readings, groups given"
COPIES: dict[str, tuple[draws.Change, int]] = {  # with the number of updates
    "as they are": (draws.unchanged, 0),
    "twice": (draws.twice, 0),
    "updated twice": (draws.unchanged, 2),
    GROUPED: (draws.readings_in_groups, 0),
    "readings, groups not given": (draws.readings, 0),
}
CHANGES: dict[str, draws.Change] = {
    "10 % wrong labels": draws.wrong_labels(0.1),
    "20 % wrong labels": draws.wrong_labels(0.2),
    "shifted features": draws.shifted,
    "other class shares": draws.other_shares,
}
SECTIONS = {
    "accuracy": (PLAIN,),
    "noise": (NOISE,),
    "copies": tuple(COPIES),
    "guarantees": (PLAIN, *RIVALS),
    "limits": (PLAIN, GROUPED),
    "novelty": (PLAIN,),
    "changes": (PLAIN, *CHANGES, LATER),
}


@dataclass(frozen=True)
class Work:
    """One fit: of a simulation, on a set, with so many labels; of noise, so many features."""

    simulation: str
    dataset: str
    n_labels: int
    repeat: int


def work_of(simulation: str, sets: Sequence[str], repeats: int) -> Iterator[Work]:
    """Yield all pieces of a simulation; of small sets those with fewer labels only."""
    if simulation == NOISE:
        for n_features in NOISE_FEATURES:
            yield from (Work(NOISE, f"{n_features}", NOISE_LABELS, repeat) for repeat in range(NOISE_REPEATS))
        return
    if simulation != PLAIN:
        repeats = min(repeats, N_REPEATS_OF_RIVALS if simulation in RIVALS else N_REPEATS_OF_OTHERS)
    streams = draws.available_streams() if tuple(sets) == ORDER else ()
    if simulation == LATER:
        sets = streams
    elif simulation in COPIES:
        sets = (*sets, *streams)
    for dataset in sets:
        for n_labels in _numbers_of_labels(simulation, dataset):
            yield from (Work(simulation, dataset, n_labels, repeat) for repeat in range(repeats))


def _numbers_of_labels(simulation: str, dataset: str) -> tuple[int, ...]:
    possible = tuple(n_labels for n_labels in N_LABELS if n_labels <= draws.most_labels(dataset))
    if simulation == PLAIN:
        return possible
    if simulation in RIVALS:
        return tuple(n_labels for n_labels in possible if n_labels >= COPIES_LABELS)
    most = COPIES_LABELS if simulation in COPIES else CHANGES_LABELS
    return tuple(n_labels for n_labels in possible if n_labels <= most)[-1:]


def drawn(work: Work) -> draws.Draw:
    if work.simulation == NOISE:
        return draws.noise(int(work.dataset), work.n_labels, NOISE_CLASSES, work.repeat)
    if work.simulation == LATER:
        return draws.draw_in_time(work.dataset, work.n_labels, work.repeat)
    given = draws.draw(work.dataset, work.n_labels, work.repeat)
    change: Callable[[draws.Draw], draws.Draw] = draws.unchanged
    if work.simulation in COPIES:
        change = COPIES[work.simulation][0]
    elif work.simulation in CHANGES:
        change = CHANGES[work.simulation]
    return change(given)


def do(work: Work) -> measures.Figures:
    """Return the findings of one piece of work, on one thread."""
    with threadpool_limits(1):
        given = drawn(work)
        if work.simulation in RIVALS:
            found = {"sets": _sets_of_rival(work.simulation, given)}
        else:
            updates = COPIES[work.simulation][1] if work.simulation in COPIES else 0
            found = measures.measured(measures.fitted(given, updates), given)
    return {**asdict(work), **found}


def _sets_of_rival(rival: str, given: draws.Draw) -> dict[str, measures.Figures | None]:
    found: dict[str, measures.Figures | None] = {f"{level:g}": None for level in measures.COVERAGES}
    levels = possible_levels(rival, given, measures.COVERAGES)
    try:
        classes, members = sets_of_mapie(rival, given, levels)
    except ValueError:  # a class that is in one part of the labels only
        return found
    for place, level in enumerate(levels):
        found[f"{level:g}"] = measures.of_sets(members[:, :, place], classes, given)
    return found
