"""Updates between two selections of settings: each label is a rank-one update of a ridge regression.

With a half-life, what was learnt before counts less with every sample. Several half-lives may compete: each has a
regression of its own, and the errors that they make for the labels, before they learn them, decide what each counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from sslart._art.algebra import Cholesky, multiply
from sslart._art.backend import backend
from sslart._mapping.evidence.stream.basis import N_PARTS, UpdateBasis
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.cache import CachesValues
from sslart._utils.parallel import stop_flag
from sslart._utils.validation import MAX_COUNT, saved_array

MAX_FORGOTTEN = 8.0  # by one label, over the number of functions
MEMORY = 100.0  # half-life of errors, in labels
KEPT = 2.0 ** (-1.0 / MEMORY)
SHARPNESS = 2.0  # of the competition
HANDICAP = 1.0  # of each half-life against the next longer one, before labels decide
TOLERANCE = 0.5  # standard errors within which the longest half-life is taken


@dataclass(frozen=True)
class Competition:
    """Performance of the competing half-lives: decayed sums over the labels of the stream.

    Attributes
    ----------
    half_lives : array of length n_candidates
        In samples, ascending; infinite: nothing is forgotten.
    losses : array of length n_candidates
        Of scores and predicted classes.
    errors : array of length n_candidates
        Of predicted classes.
    """

    half_lives: FloatArray
    losses: FloatArray
    errors: FloatArray

    @classmethod
    def begun(cls, half_lives: tuple[float, ...]) -> Competition:
        """Return the state before any label: the longer a half-life, the more it counts."""
        n = len(half_lives)
        handicaps = HANDICAP * np.arange(n, dtype=np.float64)[::-1]
        return cls(np.tile(half_lives, N_PARTS), np.tile(handicaps, N_PARTS), np.zeros(N_PARTS * n))

    def to_state(self) -> dict[str, Any]:
        """Return the sums."""
        return {"losses": self.losses, "errors": self.errors}

    @classmethod
    def from_state(cls, state: dict[str, Any], half_lives: tuple[float, ...]) -> Competition:
        """Return the competition of a saved state, after checking that it can be one."""
        n = N_PARTS * len(half_lives)
        sums = (saved_array(state, name, np.float64, n, low=0, high=MAX_COUNT) for name in ("losses", "errors"))
        return cls(np.tile(half_lives, N_PARTS), *sums)

    @property
    def longest(self) -> float:
        """The longest half-life whose errors do not clearly exceed the fewest."""
        fewest = self.errors.min()
        return float(self.half_lives[self.errors <= fewest + TOLERANCE * np.sqrt(fewest + 1.0)].max())


class Recursion(NamedTuple):
    """Regressions on the same functions, one for each half-life.

    Attributes
    ----------
    inverses : array of shape (n_half_lives, n_functions, n_functions)
        (Φ'WΦ + Λ)⁻¹.
    weights : array of shape (n_half_lives, n_functions, n_classes)
    """

    inverses: FloatArray
    weights: FloatArray


@dataclass(frozen=True, eq=False)
class Updates(CachesValues):
    """The regressions of all half-lives, on all functions and without boxes. Immutable: every label makes a new one.

    Attributes
    ----------
    basis : UpdateBasis
    competition : Competition
    recursions : tuple of Recursion
        One for each part of the functions.
    turns : int
        How many labels there have been: one function after another gets back what its λ has lost.
    time : int
        The number of the last sample with a label.
    predicted : array of int
        The classes that the last labels were predicted as, before they were learnt.
    """

    basis: UpdateBasis
    competition: Competition
    recursions: tuple[Recursion, ...]
    turns: int
    time: int
    predicted: IntArray

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
        """Return the state just after a choice of settings.

        Parameters
        ----------
        basis : UpdateBasis
        competition : Competition
        own : float
            The half-life with which the weights of the readout have been found: it corrects nothing yet.
        values : array of shape (n_labels, n_functions)
            The functions at the labels kept, with the scores that the other labels alone give.
        targets : array of shape (n_labels, n_classes)
        weights : array of length n_labels
        ages : array of length n_labels
            How many samples ago each label came.
        time : int
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
        """The weight of each function, shape (n_functions, n_classes), of all candidates together."""
        every, some = self.recursions
        columns, others = self.basis.parts
        out = np.empty(self.basis.first_weights.shape)
        backend().shared_weights(every.weights, columns, some.weights, others, self.competition.losses, SHARPNESS, out)
        return out

    def scores(self, coded: FloatArray, scores: FloatArray) -> FloatArray:
        """Return the scores of coded samples, given those by the last choice of settings."""
        return self.basis.weighted(coded, scores, self.shared_weights)

    def after(self, values: FloatArray, targets: IntArray, weights: FloatArray, times: IntArray) -> Updates:
        """Return the state after further labels, one after another.

        Parameters
        ----------
        values : array of shape (n_labels, n_functions)
            The functions at their samples.
        targets, weights, times : arrays of length n_labels
            Their classes, what they count, and the numbers of their samples.
        """
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
