"""Evidence mapping in streams: the schedule of selecting settings, and recursive updates by the labels in between.

Each label is a rank-one update of a ridge regression (recursive least squares). With a half-life, earlier labels are
down-weighted with every sample. Several half-lives may compete: each has its own regression, weighted by its
prequential errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sslart._art.backend import Cholesky, backend, multiply
from sslart._data.labels import UNLABELLED, Labels
from sslart._data.samples import Table
from sslart._mapping.base import Effort
from sslart._mapping.evidence.basis import Term, TermShape, saved_coefficients
from sslart._mapping.evidence.boxes import BoxGroup, BoxTerm
from sslart._mapping.evidence.design import RankScaler, places_in_class
from sslart._mapping.evidence.families import LinearTerm, family_of, mixture_of
from sslart._mapping.evidence.label_reservoir import LabelReservoir, labels_of
from sslart._mapping.evidence.readout import Readout, Solution
from sslart._mapping.evidence.settings import HALF_LIVES, EvidenceSettings, Mixture
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.cache import CachesValues, changed
from sslart._utils.resources import stop_flag
from sslart._utils.validation import MAX_COUNT, check_number, require, saved_array, saved_whole

if TYPE_CHECKING:
    from sslart._mapping.evidence.mapping import EvidenceMapping

FIRST_SAMPLE = 64  # before it, only labels trigger selections
GROWTH = 3  # growth of samples that triggers a selection; mostly the labels trigger one earlier, when they double
GAP, MIN_GAP = 0.72, 4000  # maximum gap of selections in half-lives, and its minimum in samples, to save time
LONG = 20_000  # samples from which on selections are rare enough to be careful ones
FEW = 64  # labels up to which selections are frequent: half as many cost 0.6 points of accuracy at 1 % labels
MAX_UPDATE_BOXES = 128  # the time of an update is quadratic in the number of functions
MAX_FEATURES = 128  # with more features there are no linear functions, for the same reason
RANK_WEIGHT = 0.5
BANDWIDTH = 0.125
MIDDLE = 0.5
RIDGE = 0.1
RIDGE_OF_SCORES = 1.0
N_PARTS = 2  # regressions per half-life: on all functions, and on those without boxes
MAX_FORGOTTEN = 8.0  # limit of the forgetting by one label, divided by the number of functions: keeps it stable
MEMORY = 100.0  # half-life of errors, in labels
KEPT = 2.0 ** (-1.0 / MEMORY)
SHARPNESS = 2.0  # of the exponential weights of candidates
HANDICAP = 1.0  # initial loss of each half-life relative to the next longer one
TOLERANCE = 0.5  # standard errors within which the longest half-life is preferred
MIN_SHARE = 1 / 16  # decayed weight below which a label is not used in a selection
MIN_LABELS = 30  # effective number of labels required to select with a half-life
# Labels in a selection in a stream. A quick one tries candidates on all of them (`MAX_TRIED` of selection), so that the
# best fits are the regression. 500 took three times as long, since all were fitted again, and predicted no better.
MAX_USED = {Effort.NONE: None, Effort.QUICK: 250, Effort.CAREFUL: 10_000}
MAX_STARTING = 128  # labels that updates start from without a half-life, so that later ones matter after a drift
MIN_OF_CLASS = 5  # minimum per class among them: with many classes more labels are used
MAX_KNOWN = 8  # settings of `fit` that are tried again in a stream


def choosing_rows(
    codes: IntArray,
    n_classes: int,
    n_labels: int,
    n_samples: int,
    n_chosen: int,
    half_life: float,
    max_labels: int,
) -> IntArray:
    """Return the rows of a stream after which settings are selected.

    These are the first label of a class, the labels number 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256, ..., and a
    threefold number of samples since the last selection. With a half-life, the gap is at most a part of it, or 4,000
    samples. In labels, the gap is at most half of the stored ones. `n_classes`, `n_labels` and `n_samples` are the
    numbers before these rows, `n_chosen` is the number of samples at the last selection.
    """
    labels_apart = max(max_labels // 2, 1)
    samples_apart = np.inf if half_life == np.inf else max(round(GAP * half_life), MIN_GAP)
    if len(codes) == 1:  # plain numbers cost less than arrays
        code = codes.item(0)
        is_choice = code != UNLABELLED and (code >= n_classes or _has_grown(n_labels + 1, labels_apart))
        is_choice = is_choice or (n_labels > 0 and n_samples + 1 == _next_number(n_chosen, samples_apart))
        return np.zeros(int(is_choice), dtype=np.int64)
    known = codes != UNLABELLED
    labels = n_labels + np.cumsum(known)
    newest = np.maximum.accumulate(np.concatenate([[n_classes - 1], codes]))[:-1]
    by_labels = n_samples + 1 + np.flatnonzero((codes > newest) | (known & _is_choice(labels, labels_apart)))
    numbers: list[int] = []
    last = n_chosen if n_labels else None  # the first label leads to the first choice
    for number in [*by_labels.tolist(), n_samples + len(codes) + 1]:
        while last is not None and (due := _next_number(last, samples_apart)) < number:
            numbers.append(due)
            last = due
        numbers.append(number)
        last = number
    return np.array(numbers[:-1], dtype=np.int64) - n_samples - 1


def _next_number(last: int, longest: float) -> int:
    """Return the number of samples of the next selection, unless labels trigger one before."""
    return int(max(FIRST_SAMPLE, min(GROWTH * last, last + longest), last + 1))


def _is_choice(numbers: IntArray, longest: int) -> BoolArray:
    """Return a mask of label counts that trigger a selection: 2ᵏ, for few labels 3 · 2ᵏ, and multiples of `longest`."""
    is_power, is_triple = ((n > 0) & (n & (n - 1) == 0) for n in (numbers, numbers // 3))
    grown = is_power | ((numbers <= FEW) & (numbers % 3 == 0) & is_triple)
    return np.asarray(np.where(numbers < 2 * longest, (numbers > 1) & grown, numbers % longest == 0))


def _has_grown(number: int, longest: int) -> bool:
    """Return the result of `_is_choice` for a single number."""
    if number >= 2 * longest:
        return number % longest == 0
    third = number // 3 if number % 3 == 0 and number <= FEW else 0
    return number > 1 and (number & (number - 1) == 0 or (third > 0 and third & (third - 1) == 0))


@dataclass(frozen=True)
class UpdateBasis:
    """Basis functions of updates: the scores of the last selection, the first boxes, a constant, and the features."""

    scaler: RankScaler
    group: BoxGroup
    n_classes: int
    _packed: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, readout: Readout, lower: FloatArray, upper: FloatArray) -> UpdateBasis:
        """Return the functions for a readout; `lower` and `upper`: corners of its boxes."""
        lower, upper = lower[:MAX_UPDATE_BOXES], upper[:MAX_UPDATE_BOXES]
        n_boxes, n_features = lower.shape
        reached = lower <= upper
        low, high = (readout.scaler.blend(side, RANK_WEIGHT) for side in (lower, upper))
        corners = np.where(reached, low, lower), np.where(reached, high, upper)
        group = BoxGroup(RANK_WEIGHT, np.arange(n_features), np.ones(n_features), np.arange(n_boxes), *corners)
        return cls(readout.scaler, group, len(readout.bias))

    @property
    def _n_trends(self) -> int:
        n_features = len(self.group.features)
        return n_features if n_features <= MAX_FEATURES else 0

    @property
    def n_functions(self) -> int:
        """Number of functions."""
        return self.n_classes + len(self.group.boxes) + 1 + self._n_trends

    @cached_property
    def ridges(self) -> FloatArray:
        """λ of each function."""
        return np.repeat([RIDGE_OF_SCORES, RIDGE], [self.n_classes, self.n_functions - self.n_classes])

    @cached_property
    def parts(self) -> tuple[IntArray, ...]:
        """Indices of the functions of each regression: all functions, and all except boxes."""
        every = np.arange(self.n_functions)
        return every, np.delete(every, slice(self.n_classes, self.n_classes + len(self.group.boxes)))

    @cached_property
    def first_weights(self) -> FloatArray:
        """Initial weights, shape (n_functions, n_classes), which leave scores unchanged."""
        return np.eye(self.n_functions, self.n_classes)

    def values(self, coded: FloatArray, scores: FloatArray) -> FloatArray:
        """Return the functions at coded samples, shape (n_samples, n_functions), given their scores."""
        values = np.empty((len(coded), self.n_functions))
        self._functions().values(np.ascontiguousarray(coded), scores, values, stop_flag())
        return values

    def weighted(self, coded: FloatArray, scores: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the sums of the functions at coded samples times weights, shape (n_functions, n_classes)."""
        sums = scores.copy()
        self._functions().weigh(np.ascontiguousarray(coded), sums, weights, stop_flag())
        return sums

    def _functions(self) -> Any:
        """Return the functions packed for the backend."""
        module = backend()
        if module not in self._packed:
            boxes = self.group.packed
            self._packed[module] = module.StreamFunctions(
                *self.scaler.tables(),
                RANK_WEIGHT,
                boxes.lower,
                boxes.upper,
                boxes.n_boxes,
                BANDWIDTH * len(self.group.features),
                MIDDLE,
                self._n_trends,
            )
        return self._packed[module]

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_packed": {}}

    def updated(self, readout: Readout, weights: FloatArray) -> Readout:
        """Return the readout that adds the functions with these weights."""
        of_scores, of_boxes, constant, slopes = np.split(
            weights, np.cumsum([self.n_classes, len(self.group.boxes), 1]), axis=0
        )
        terms: list[Term] = [term.mixed(of_scores) for term in readout.terms]
        if len(of_boxes):
            terms.append(BoxTerm(self.group, BANDWIDTH, of_boxes.T[None]))
        if len(slopes):
            centre = np.full(len(self.group.features), MIDDLE)
            terms.append(LinearTerm(RANK_WEIGHT, centre, slopes))
        bias = readout.bias @ of_scores + constant[0]
        return replace(readout, terms=tuple(terms), bias=bias)


@dataclass(frozen=True)
class Competition:
    """Performance of the competing half-lives: decayed sums over the labels of the stream."""

    half_lives: FloatArray  # in samples, ascending; infinite: no forgetting
    losses: FloatArray  # squared errors of scores plus misclassifications
    errors: FloatArray  # misclassifications

    @classmethod
    def begun(cls, half_lives: tuple[float, ...]) -> Competition:
        """Return the state before any label: longer half-lives have larger weights."""
        n = len(half_lives)
        handicaps = HANDICAP * np.arange(n, dtype=np.float64)[::-1]
        return cls(np.tile(half_lives, N_PARTS), np.tile(handicaps, N_PARTS), np.zeros(N_PARTS * n))

    def to_state(self) -> dict[str, Any]:
        """Return the sums."""
        return {"losses": self.losses, "errors": self.errors}

    @classmethod
    def from_state(cls, state: dict[str, Any], half_lives: tuple[float, ...]) -> Competition:
        """Restore the competition from a saved state after validating it."""
        n = N_PARTS * len(half_lives)
        sums = (saved_array(state, name, np.float64, n, low=0, high=MAX_COUNT) for name in ("losses", "errors"))
        return cls(np.tile(half_lives, N_PARTS), *sums)

    @property
    def longest(self) -> float:
        """The longest half-life whose errors do not significantly exceed the lowest ones."""
        fewest = self.errors.min()
        return float(self.half_lives[self.errors <= fewest + TOLERANCE * np.sqrt(fewest + 1.0)].max())


class Recursion(NamedTuple):
    """Regressions on the same functions, one for each half-life."""

    inverses: FloatArray  # (n_half_lives, n_functions, n_functions): (Φ'WΦ + Λ)⁻¹
    weights: FloatArray  # (n_half_lives, n_functions, n_classes)


@dataclass(frozen=True, eq=False)
class Updates(CachesValues):
    """The regressions of all half-lives, on all functions and without boxes. Immutable."""

    basis: UpdateBasis
    competition: Competition
    recursions: tuple[Recursion, ...]  # one for each set of functions
    turns: int  # number of labels: with each, one function in turn gets back the λ that it lost by forgetting
    time: int  # the number of the last sample with a label
    predicted: IntArray  # the classes predicted for the last labels before learning them

    @classmethod
    def begun(
        cls,
        basis: UpdateBasis,
        competition: Competition,
        own: float,
        values: FloatArray,
        targets: FloatArray,
        weights: FloatArray,
        ages: IntArray,
        time: int,
    ) -> Updates:
        """Return the state right after a selection of settings.

        The candidate with the half-life `own`, used to fit the readout, starts without corrections. `values`
        (n_labels, n_functions) are the functions at the stored labels, with leave-one-out scores; `ages` in samples.
        """
        half_lives = competition.half_lives[: len(competition.half_lives) // N_PARTS]
        decayed = weights * 2.0 ** (-ages / half_lives[:, None])
        recursions = []
        for columns in basis.parts:
            some, first = values[:, columns], basis.first_weights[columns]
            turned = (decayed[:, :, None] * some).transpose(0, 2, 1)
            every = np.repeat(some[None], len(decayed), axis=0)
            ridges = np.repeat(basis.ridges[None, columns], len(decayed), axis=0)
            systems = multiply(turned, every) + np.eye(len(first)) * basis.ridges[columns]
            inverses = Cholesky(systems, ridges, overwrite=True).inverse
            errors = np.repeat((targets - multiply(some, first))[None], len(decayed), axis=0)
            errors[half_lives == own] = 0.0
            recursions.append(Recursion(inverses, first + multiply(inverses, multiply(turned, errors))))
        return cls(basis, competition, tuple(recursions), 0, time, np.empty(0, dtype=np.int64))

    @cached_property
    def shared_weights(self) -> FloatArray:
        """Weights of the functions, shape (n_functions, n_classes), averaged over the candidates."""
        every, some = self.recursions
        columns, others = self.basis.parts
        out = np.empty(self.basis.first_weights.shape)
        backend().shared_weights(every.weights, columns, some.weights, others, self.competition.losses, SHARPNESS, out)
        return out

    def scores(self, coded: FloatArray, scores: FloatArray) -> FloatArray:
        """Return the scores of coded samples, given those of the last selection of settings."""
        return self.basis.weighted(coded, scores, self.shared_weights)

    def after(self, values: FloatArray, targets: IntArray, weights: FloatArray, times: IntArray) -> Updates:
        """Return the state after further labels in order, given the functions at their samples."""
        basis, before = self.basis, self.competition
        half_lives = before.half_lives[: len(before.half_lives) // N_PARTS]
        competition = Competition(before.half_lives, before.losses.copy(), before.errors.copy())
        recursions = tuple(Recursion(np.empty_like(one.inverses), one.weights.copy()) for one in self.recursions)
        parts: list[FloatArray | IntArray] = []
        for given, own, columns in zip(self.recursions, recursions, basis.parts, strict=True):
            parts += [given.inverses, own.inverses, own.weights, columns]
        predicted = np.empty(len(targets), dtype=np.int64)
        backend().learn_labels(
            *parts,
            np.ascontiguousarray(values),
            targets,
            weights,
            times,
            self.time,
            self.turns,
            half_lives,
            MAX_FORGOTTEN,
            basis.ridges,
            basis.first_weights,
            SHARPNESS,
            KEPT,
            competition.losses,
            competition.errors,
            predicted,
            stop_flag(),
        )
        return Updates(basis, competition, recursions, self.turns + len(targets), int(times[-1]), predicted)

    def to_state(self) -> dict[str, Any]:
        """Return the updates as plain values and arrays."""
        return {
            "group": self.basis.group.to_state(),
            "competition": self.competition.to_state(),
            "recursions": [one._asdict() for one in self.recursions],
            "turns": self.turns,
            "time": self.time,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], solution: Solution, settings: EvidenceSettings) -> Updates:
        """Restore the updates from a saved state after validating it."""
        readout = solution.readout
        n_features, n_classes = len(readout.scaler.knots), len(readout.bias)
        n_boxes = min(len(readout.nodes), MAX_UPDATE_BOXES)
        group = BoxGroup.from_state(state["group"], TermShape(n_features, n_classes, n_boxes))
        fits = group.rank_weight == RANK_WEIGHT and len(group.features) == n_features and len(group.boxes) == n_boxes
        require(fits and (group.factors == 1).all(), "the functions that labels update")
        basis = UpdateBasis(readout.scaler, group, n_classes)
        half_lives = settings.candidates
        competition = Competition.from_state(state["competition"], half_lives)
        recursions = []
        for one, part in zip(state["recursions"], basis.parts, strict=True):
            n = len(basis.ridges[part])
            inverses = saved_coefficients(one, "inverses", len(half_lives), n, n)
            is_symmetric = np.array_equal(inverses, inverses.swapaxes(1, 2))
            require(is_symmetric and (np.diagonal(inverses, axis1=1, axis2=2) > 0).all(), "the updates")
            recursions.append(Recursion(inverses, saved_coefficients(one, "weights", len(half_lives), n, n_classes)))
        turns, time = (saved_whole(state, name, 0, MAX_COUNT) for name in ("turns", "time"))
        return cls(basis, competition, tuple(recursions), turns, time, np.empty(0, dtype=np.int64))


@dataclass(frozen=True)
class StreamState:
    """Labels since the last selection of settings, and the state that the next selection depends on."""

    labels: LabelReservoir = field(default_factory=LabelReservoir)
    n_samples: int = 0  # number of samples so far, labelled or not
    n_chosen: int = 0  # number of samples at the last selection of settings
    # half-life used in the last selection, in samples; infinite: no forgetting
    half_life: float = np.inf
    competition: Competition | None = None  # of several half-lives; None if the user gave one
    fit_mixtures: tuple[Mixture, ...] = ()  # those that counted most in `fit`, which are tried again
    n_fit_labels: int = 0
    # how many labels took part in the last choice at most, unless `fit` had more; None: all that are kept
    max_used: int | None = None

    @property
    def n_labels(self) -> int:
        """Total number of labels so far."""
        return self.labels.n_seen

    @property
    def is_learnt(self) -> bool:
        """True if labels have arrived since the last selection."""
        return bool(len(self.labels)) or self.competition is not None

    @property
    def has_come(self) -> bool:
        """True if any sample has arrived since the last selection."""
        return self.n_samples > self.n_chosen

    def followed_by(
        self,
        settings: EvidenceSettings,
        table: Table,
        codes: IntArray,
        labels: Labels,
        known: IntArray,
        *,
        in_order: bool,
    ) -> StreamState:
        """Return the state after further samples; `known`: the rows with a label."""
        n_samples = self.n_samples + len(codes)
        if not len(known):
            return changed(self, n_samples=n_samples)
        own = labels[known]
        longer = self.labels.adding(
            table[known],
            codes[known],
            MAX_COUNT,
            settings.seed,
            weights=own.weights,
            groups=own.groups,
            answers=own.answers,
            at_random=own.at_random,
            times=self.n_samples + 1 + known if in_order else np.full(len(known), n_samples),
        )
        return changed(self, labels=longer, n_samples=n_samples)

    def ended(self, competition: Competition | None, half_life: float) -> StreamState:
        """Return the state after a selection of settings, which uses all labels."""
        return replace(
            self,
            labels=LabelReservoir((), self.n_labels),
            n_chosen=self.n_samples,
            half_life=half_life,
            competition=competition,
        )

    def after_fit(self, mixtures: Sequence[Mixture], n_labels: int) -> StreamState:
        """Return the state with the settings selected by `fit`; trees are always tried."""
        plain = [one for one in mixtures if one.weight and family_of(one.specs[0]).name != "trees"]
        heaviest = sorted(plain, key=lambda one: -one.weight)[:MAX_KNOWN]
        known = tuple(one._replace(without=()) for one in heaviest)
        return replace(self, fit_mixtures=known, n_fit_labels=n_labels)

    def used(self, labels: LabelReservoir) -> IntArray | None:
        """Return the stored labels to use in the regression: recent ones or a uniform sample; None for all."""
        used = None
        if np.isfinite(self.half_life):
            used = np.flatnonzero(self.shares_of(labels.times()) >= MIN_SHARE)
        if self.max_used is None:
            return used
        n_most = max(self.max_used, self.n_fit_labels)
        if (len(labels) if used is None else len(used)) <= n_most:
            return used
        kept = labels.whole()
        n_most = max(n_most, MIN_OF_CLASS * len(np.unique(kept.codes)))
        used = np.arange(len(kept.keys)) if used is None else used
        used = used[np.argsort(kept.keys[used], kind="stable")]
        is_later = places_in_class(kept.codes[used]) >= MIN_OF_CLASS
        return np.sort(used[np.argsort(is_later, kind="stable")[:n_most]])

    def shares_of(self, times: IntArray) -> FloatArray:
        """Return the decayed weight of labels at the last selection of settings, relative to their initial weight."""
        return np.asarray(2.0 ** (-(self.n_chosen - times) / self.half_life))

    def half_life_for(self, settings: EvidenceSettings, competition: Competition | None, times: IntArray) -> float:
        """Return the half-life for the selection: the given one, or the winner if there are enough labels."""
        if competition is None or not settings.is_auto:
            return settings.candidates[-1]
        ages = self.n_samples - times
        enough = [one for one in settings.candidates if (2.0 ** (-ages / one)).sum() >= MIN_LABELS]
        return max(competition.longest, *enough[:1], *(() if enough else settings.candidates[-1:]))

    def begun(self, mapping: EvidenceMapping, solution: Solution) -> Updates:
        """Return the updates right after a selection of settings."""
        network = mapping.network
        assert network is not None
        lower, upper = (side[solution.readout.nodes] for side in network.nodes.boxes())
        basis = UpdateBasis.of(solution.readout, lower, upper)
        kept = mapping.reservoir.whole()[solution.rows]
        n_most = max(MAX_STARTING, MIN_OF_CLASS * basis.n_classes)
        if mapping.settings.candidates[0] < np.inf:  # older labels are down-weighted by the half-life
            n_most = len(kept.keys)
        some = np.sort(np.argsort(kept.keys, kind="stable")[:n_most])
        kept, classes, left_out = kept[some], solution.classes[some], solution.left_out[some]
        competition = self.competition if mapping.settings.is_auto else None
        return Updates.begun(
            basis,
            competition or Competition.begun(mapping.settings.candidates),
            self.half_life,
            basis.values(network.encode(kept.table), left_out),
            np.eye(basis.n_classes)[classes],
            kept.weights * solution.class_factors[classes],
            self.n_chosen - kept.times,
            self.n_chosen,
        )

    def to_state(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "labels": self.labels.to_state() if len(self.labels) else None,
            "n_labels": self.n_labels,
            "n_samples": self.n_samples,
            "n_chosen": self.n_chosen,
            "half_life": self.half_life if np.isfinite(self.half_life) else None,
            "competition": None if self.competition is None else self.competition.to_state(),
            "fitted": [one.to_state() for one in self.fit_mixtures],
            "n_fitted": self.n_fit_labels,
            "max_used": self.max_used,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], n_columns: int, n_classes: int) -> StreamState:
        """Restore the state from saved values after validating them."""
        n_samples = saved_whole(state, "n_samples", 0, MAX_COUNT)
        n_labels = saved_whole(state, "n_labels", 0, MAX_COUNT)
        n_chosen = saved_whole(state, "n_chosen", 0, n_samples)
        labels = LabelReservoir((), n_labels)
        if state["labels"] is not None:
            labels = labels_of(state["labels"], n_columns, n_classes)
            require(labels.n_seen == n_labels, "the labels since the last choice of settings")
        given = state["half_life"]
        half_life = np.inf if given is None else check_number("a model", "half_life", given, 1)
        competition = None
        if state["competition"] is not None:
            competition = Competition.from_state(state["competition"], HALF_LIVES)
        mixtures, n_fitted = map(mixture_of, state["fitted"]), saved_whole(state, "n_fitted", 0, MAX_COUNT)
        max_used = None if state["max_used"] is None else saved_whole(state, "max_used", 1, MAX_COUNT)
        return cls(labels, n_samples, n_chosen, half_life, competition, tuple(mixtures), n_fitted, max_used)
