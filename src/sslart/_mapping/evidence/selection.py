"""Evidence mapping: which ways to speak suit the labels, by leave-one-out, and the readout that they make together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sslart._art.network import Network
from sslart._mapping.evidence.basis import Block, Boxes, Ground
from sslart._mapping.evidence.builder import Said
from sslart._mapping.evidence.readout import Readout
from sslart._mapping.evidence.reservoir import LabelMemory
from sslart._mapping.evidence.ridge import Fit, dual, primal
from sslart._mapping.evidence.settings import MEMBERS, PLAIN, Candidate, Key, Wishes
from sslart._utils.arrays import BoolArray, FloatArray, IntArray

WIDTHS = tuple(2.0**-level for level in range(6))
SHARES = (0.0, 0.5, 1.0)
RIDGES = (1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0, 3.0, 10.0)
SPREADS = (0.2, 0.9)
CARRIES = (0.9, 0.99)
TEMPERATURE = 2.0
MAX_LABELS = 1000
MAX_CANDIDATES = 200
MAX_CANDIDATES_OF_MANY = 2
MAX_BOXES_OF_MANY = 1000
MIN_WEIGHT = 0.001
MAX_UNHEARD = 0.25


@dataclass(frozen=True)
class Lesson:
    """What there is to learn from.

    Attributes
    ----------
    labelled : array of shape (n_labels, n_features)
        In the unit cube, NaN where missing.
    places : array of length n_labels
        Class of each, from 0.
    n_classes : int
    boxes : Boxes
    indicator : array of bool, length n_features
    seed : int
    """

    labelled: FloatArray
    places: IntArray
    n_classes: int
    boxes: Boxes
    indicator: BoolArray
    seed: int

    @classmethod
    def of(cls, network: Network, nodes: IntArray, memory: LabelMemory, n_classes: int, seed: int) -> Lesson:
        """Return what a network has to learn from: the labels kept, and the nodes that may speak."""
        lower, upper = network.nodes.boxes()
        held = memory.whole()
        return cls(
            network._encode(held.table)[0],
            held.codes,
            n_classes,
            Boxes(lower[nodes], upper[nodes], network.nodes.support[nodes]),
            np.array([feature.category is not None for feature in network.encoder.features]),
            seed,
        )

    @property
    def targets(self) -> FloatArray:
        """One-hot classes."""
        return np.eye(self.n_classes)[self.places]

    def ground(self) -> Ground:
        """Return the samples among their boxes."""
        random = np.random.RandomState(self.seed)
        return Ground(self.labelled, self.places, self.boxes, self.indicator, random)

    def sample(self, size: int) -> Lesson:
        """Return the lesson with at most so many labels, each class with its share, at least one."""
        if len(self.places) <= size:
            return self
        random = np.random.RandomState(self.seed)
        order = random.permutation(len(self.places))
        rank = np.empty(len(order))
        for place in np.unique(self.places):
            own = order[self.places[order] == place]
            rank[own] = (np.arange(len(own)) + 0.5 * (np.arange(len(own)) > 0)) / len(own)
        rows = np.sort(np.argsort(rank, kind="stable")[:size])
        return replace(self, labelled=self.labelled[rows], places=self.places[rows])


@dataclass(frozen=True)
class Learnt:
    """A readout, how it was chosen, and what it predicts for each label of the choice by the others alone."""

    readout: Readout
    chosen: tuple[Candidate, ...]
    left_out: FloatArray
    places: IntArray


def candidates(ground: Ground, wishes: Wishes) -> list[tuple[Key, ...]]:
    """Return the ways to speak that are tried, alone and in pairs."""
    widths = WIDTHS if wishes.width is None else (wishes.width,)
    shares = SHARES if wishes.share is None else (wishes.share,)
    middle = 0.5 if wishes.share is None else wishes.share
    some = widths[2:4] if len(widths) > 1 else widths
    alone = [
        *(Key("box", share, width) for share in shares for width in widths),
        *(Key("relevant", middle, width) for width in widths[1::2] or widths),
        *(Key("feature", middle, width) for width in widths[:4]),
        *(Key("linear", share, spread) for share in shares for spread in (0.0, 1.0)),
        *(Key("subspace", middle, width) for width in some),
        *(Key("spread", shares[0], reach) for reach in SPREADS),
        *(Key("carried", shares[0], reach) for reach in CARRIES),
    ]
    alone = [key for key in alone if MEMBERS.get(key.family, key.family) in wishes.families and ground.can(key)]

    def those(family: str, *of: float) -> list[Key]:
        return [key for key in alone if key.family == family and key.share == middle and (not of or key.width in of)]

    carried = [key for key in alone if key.family == "carried"][:1]

    trends = those("linear") + those("feature", some[0])
    pairs = [
        *((box, trend) for box in those("box", *widths[::2]) for trend in trends),
        *((box, trend) for box in those("subspace", some[0]) for trend in trends),
        *((box, other) for box in those("box", some[0]) for other in those("subspace", some[0])),
        *((box, other) for box in those("box", some[0]) for other in carried),
    ]
    return [*((key,) for key in alone), *pairs]


def choose(lesson: Lesson, wishes: Wishes) -> Learnt:
    """Try all candidates, weigh them by their leave-one-out score, and learn with those that matter.

    Of many labels a sample is learnt from: `learn_all` goes on with all of them.
    """
    sample = lesson.sample(MAX_LABELS)
    trial = _Trial(sample)
    tried: list[Candidate] = []
    fits: list[Fit] = []
    ridges = RIDGES if wishes.ridge is None else (wishes.ridge,)
    boxes_only = wishes._replace(families=("box",))  # where none of the families asked for can speak
    for keys in candidates(trial.ground, wishes) or candidates(trial.ground, boxes_only):
        for fit in trial.fits(keys, ridges):
            tried.append(Candidate(keys, fit.ridge))
            fits.append(fit)
    weights = _weights(np.array([fit.left_out for fit in fits]), sample)
    kept = np.argsort(-weights, kind="stable")[:MAX_CANDIDATES]
    kept = kept[weights[kept] >= MIN_WEIGHT * weights[kept[0]]]
    if sample is not lesson:
        kept = np.array([place for place in kept if _suits_many(tried[place])][:MAX_CANDIDATES_OF_MANY] or kept[:1])
    kept = _audible([(tried[place].keys, weights[place]) for place in kept], kept)
    weights = weights[kept] / weights[kept].sum()
    chosen = tuple(tried[place]._replace(weight=float(weight)) for place, weight in zip(kept, weights, strict=True))
    return trial.learnt(chosen, [fits[place] for place in kept])


def learn(lesson: Lesson, chosen: Sequence[Candidate]) -> Learnt:
    """Learn with candidates that were chosen before."""
    trial = _Trial(lesson.sample(MAX_LABELS))
    ridges: dict[tuple[Key, ...], list[float]] = {}
    for one in chosen:
        ridges.setdefault(one.keys, []).append(one.ridge)
    fits = {(keys, fit.ridge): fit for keys, those in ridges.items() for fit in trial.fits(keys, those)}
    return learn_all(lesson, trial.learnt(chosen, [fits[one.keys, one.ridge] for one in chosen]))


def learn_all(lesson: Lesson, few: Learnt) -> Learnt:
    """Return what was learnt from a sample of the labels as learnt from all of them."""
    return few if len(few.places) == len(lesson.places) else _learn_many(lesson, few)


def _audible(those: list[tuple[tuple[Key, ...], float]], places: IntArray) -> IntArray:
    """Return the places without the candidates of those voices, a family on a scale each, that are hardly heard."""
    total = sum(weight for _, weight in those)
    loudness: dict[tuple[str, float], float] = {}
    for keys, weight in those:
        for voice in map(_voice, keys):
            loudness[voice] = loudness.get(voice, 0.0) + weight / len(keys) / total
    silent: set[tuple[str, float]] = set()
    for voice, loud in sorted(loudness.items(), key=lambda one: one[1]):
        if loud + sum(loudness[one] for one in silent) <= MAX_UNHEARD:
            silent.add(voice)
    heard = [not silent.intersection(map(_voice, keys)) for keys, _ in those]
    return places[heard] if any(heard) else places


def _voice(key: Key) -> tuple[str, float]:
    return MEMBERS.get(key.family, key.family), key.share


class _Trial:
    """Candidates fitted to the labels of a lesson, each block of evidence worked out once."""

    def __init__(self, lesson: Lesson) -> None:
        self.lesson, self.ground = lesson, lesson.ground()
        self.blocks: dict[Key, Block] = {}

    def fits(self, keys: tuple[Key, ...], ridges: Sequence[float]) -> Iterator[Fit]:
        """Fit a mixture of ways to speak, for each λ."""
        targets = self.lesson.targets
        if keys[0].family == "spread":
            spread, strengths = self.ground.spread(keys[0], targets)
            yield Fit(0.0, spread.shares(), spread.left_out(strengths))
            return
        for key in keys:
            if key not in self.blocks:
                self.blocks[key] = self.ground.block(key)
        grams = [self.blocks[key].gram for key in keys]
        yield from dual(np.sum(grams, axis=0) / len(grams) + 1.0, targets, ridges)

    def learnt(self, chosen: Sequence[Candidate], fits: Sequence[Fit]) -> Learnt:
        """Return what the chosen candidates say together."""
        said = Said(self.ground, self.lesson.n_classes)
        coefficients: dict[Key, FloatArray] = {}
        left_out = np.zeros(self.lesson.targets.shape)
        for candidate, fit in zip(chosen, fits, strict=True):
            left_out += candidate.weight * fit.left_out
            if candidate.keys[0].family == "spread":
                said.add_spread(candidate.keys[0], candidate.weight * fit.coefficients)
                continue
            said.bias += candidate.weight * fit.coefficients.sum(axis=0)
            for key in candidate.keys:
                share = candidate.weight / len(candidate.keys) * fit.coefficients
                coefficients[key] = coefficients.get(key, 0.0) + share
        for key, coefficient in coefficients.items():
            said.add(self.blocks[key], self.blocks[key].weights(coefficient))
        places = self.lesson.places
        return Learnt(said.readout(left_out, places), tuple(chosen), left_out, places)


def _suits_many(candidate: Candidate) -> bool:
    """Tell whether a candidate can be learnt from many labels: all but those that need a matrix over labels."""
    return all(key.family != "carried" for key in candidate.keys)


def _learn_many(lesson: Lesson, few: Learnt) -> Learnt:
    """Learn from many labels in the primal, with the best of what a sample of them chose.

    What these say is what the dual would say. Probabilities follow from the sample.
    """
    ground = replace(lesson, boxes=lesson.boxes.first(MAX_BOXES_OF_MANY)).ground()
    able = [one for one in few.chosen if _suits_many(one)]
    best = sorted(able or [PLAIN], key=lambda one: -one.weight)[:MAX_CANDIDATES_OF_MANY]
    total = sum(one.weight for one in best)
    said = Said(ground, lesson.n_classes)
    for candidate in best:
        share = candidate.weight / total
        if candidate.keys[0].family == "spread":
            said.add_spread(candidate.keys[0], share * ground.spread(candidate.keys[0], lesson.targets)[0].shares())
            continue
        own = [ground.block(key) for key in candidate.keys]
        matrix = np.hstack([np.ones((len(lesson.places), 1)), *(block.matrix for block in own)])
        scales = np.repeat([len(own) * block.scale for block in own], [block.matrix.shape[1] for block in own])
        found = share * primal(matrix, np.append(1.0, scales), lesson.targets, candidate.ridge)
        said.bias += found[0]
        ends = np.cumsum([block.matrix.shape[1] for block in own])[:-1]
        for block, weights in zip(own, np.split(found[1:], ends), strict=True):
            said.add(block, weights)
    return replace(few, readout=said.readout(few.left_out, few.places))


def _weights(left_out: FloatArray, lesson: Lesson) -> FloatArray:
    """Return the weight of each candidate: it falls off with its errors and half its squared error, summed."""
    wrong = (left_out.argmax(axis=2) != lesson.places).sum(axis=1)
    squared = ((left_out - lesson.targets) ** 2).sum(axis=(1, 2))
    score = wrong + 0.5 * squared
    weights = np.exp(-(score - score.min()) / TEMPERATURE)
    return np.asarray(weights / weights.sum())
