"""The families of evidence: ways in which boxes and features can speak, each a matrix of what it hears.

Ridge in the dual only sees ΦΦ', so families mix by adding such Gram matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg

from sslart._mapping.evidence.graph import MIN_BOXES, Spread, similarity
from sslart._mapping.evidence.rank_scaler import Ranks
from sslart._mapping.evidence.readout import N_KNOTS, Chorus, Curves, Line, Part, Web, hats
from sslart._mapping.evidence.settings import Key
from sslart._utils.arrays import BoolArray, FloatArray, IntArray, SingleArray

N_SUBSPACES = 24
BOXES_IN_SUBSPACE = 128
BOXES_IN_WEB = 1500
BOXES_PER_FEATURE = 15  # that speak, or MIN_SPEAKING if those are more
MIN_SPEAKING = 500
MIN_SPREAD = 0.02


@dataclass(frozen=True)
class Boxes:
    """Boxes in the unit cube, shape (n_boxes, n_features), and how many samples each has met."""

    lower: FloatArray
    upper: FloatArray
    support: IntArray

    def first(self, n: int) -> Boxes:
        """Return the first of the boxes."""
        return Boxes(self.lower[:n], self.upper[:n], self.support[:n])


class Block:
    """What one way to speak hears of the labelled samples.

    Parameters
    ----------
    key : Key
    matrix : array of shape (n_labels, n_terms)
        Φ.
    """

    def __init__(self, key: Key, matrix: FloatArray) -> None:
        self.key, self.matrix = key, matrix

    @cached_property
    def scale(self) -> float:
        """The mean diagonal of ΦΦ', by which it is divided."""
        return float(np.einsum("ij,ij->", self.matrix, self.matrix)) / len(self.matrix) or 1.0

    @cached_property
    def gram(self) -> FloatArray:
        """ΦΦ', scaled so that its mean diagonal is one."""
        return np.asarray(self.matrix @ self.matrix.T / self.scale)

    def weights(self, coefficients: FloatArray) -> FloatArray:
        """Return the weight of each term, shape (n_terms, n_classes), from coefficients of the labelled samples."""
        return np.asarray(self.matrix.T @ coefficients / self.scale)


class Spoken(Block):
    """Boxes that speak, in one or more choruses."""

    def __init__(self, key: Key, matrix: FloatArray, choruses: list[Chorus], width: float) -> None:
        super().__init__(key, matrix)
        self.choruses, self.width = choruses, width

    def parts(self, weights: FloatArray) -> list[Part]:
        """Return the choruses with their weights."""
        found, start = [], 0
        for chorus in self.choruses:
            own = weights[start : start + len(chorus.boxes)]
            found.append(Part(chorus, self.width, own.T[None]))
            start += len(chorus.boxes)
        return found


class Carried(Block):
    """Nearest boxes that hand on over the graph what they say: Φ (I − aS)⁻¹ Φ' in the place of ΦΦ'."""

    def __init__(self, key: Key, web: Web, matrix: FloatArray, S: FloatArray) -> None:
        super().__init__(key, matrix)
        self.web = web
        system = np.eye(len(S)) - key.width * S
        self.reply = scipy.linalg.solve(system, matrix.T, assume_a="pos", overwrite_a=True, check_finite=False)

    @cached_property
    def scale(self) -> float:
        """The mean diagonal of Φ (I − aS)⁻¹ Φ'."""
        return float(np.einsum("ij,ji->", self.matrix, self.reply)) / len(self.matrix) or 1.0

    @cached_property
    def gram(self) -> FloatArray:
        """Φ (I − aS)⁻¹ Φ', scaled so that its mean diagonal is one."""
        return np.asarray(self.matrix @ self.reply / self.scale)

    def weights(self, coefficients: FloatArray) -> FloatArray:
        """Return the weight of each box of the graph."""
        return np.asarray(self.reply @ coefficients / self.scale)


class Straight(Block):
    """The features themselves."""

    def __init__(self, key: Key, samples: FloatArray) -> None:
        centre = _means(samples)
        centred = np.nan_to_num(samples - centre)
        spread = np.maximum(centred.std(axis=0), MIN_SPREAD) if key.width else np.ones(samples.shape[1])
        super().__init__(key, centred / spread)
        self.centre, self.spread = centre, spread

    def line(self, weights: FloatArray) -> Line:
        """Return the trend that weights make."""
        return Line(self.key.share, self.centre, weights / self.spread[:, None])


class Bent(Block):
    """Each feature by itself, as a smooth curve."""

    def __init__(self, key: Key, samples: FloatArray) -> None:
        knots = np.linspace(0.0, 1.0, N_KNOTS)
        alike = np.exp(-np.abs(knots[:, None] - knots) / key.width)
        self.root = scipy.linalg.cholesky(alike, lower=True)
        below, part = hats(samples)
        at = np.zeros((*samples.shape, N_KNOTS))
        np.put_along_axis(at, below[:, :, None], 1.0 - part[:, :, None], axis=2)
        np.put_along_axis(at, below[:, :, None] + 1, part[:, :, None], axis=2)
        at[np.isnan(samples)] = 0.0
        super().__init__(key, (at @ self.root).reshape(len(samples), -1))

    def curves(self, weights: FloatArray) -> Curves:
        """Return the curves that weights make."""
        n_classes = weights.shape[1]
        return Curves(self.key.share, self.root @ weights.reshape(-1, N_KNOTS, n_classes))


class Ground:
    """Labelled samples among boxes, and the blocks that can be made of them; each distance is measured once.

    Parameters
    ----------
    labelled : array of shape (n_labels, n_features)
        In the unit cube, NaN where missing.
    places : array of length n_labels
        Class of each, from 0.
    boxes : Boxes
    indicator : array of bool, length n_features
        Which features stand for a category.
    random : RandomState
        Draws the subspaces.
    """

    def __init__(
        self, labelled: FloatArray, places: IntArray, boxes: Boxes, indicator: BoolArray, random: np.random.RandomState
    ) -> None:
        self.labelled, self.places, self.boxes = labelled, places, boxes
        self.ranks = Ranks.of_boxes(boxes.lower, boxes.upper, boxes.support, indicator)
        self.stop = np.zeros(1, dtype=np.uint8)
        n_features = labelled.shape[1]
        most = int(np.sqrt(n_features)) + 2
        self.subspaces = [
            np.sort(random.choice(n_features, min(random.randint(2, most + 1), n_features), replace=False))
            for _ in range(N_SUBSPACES)
        ]
        self._choruses: dict[tuple[str, float], tuple[list[Chorus], list[SingleArray]]] = {}
        self._webs: dict[float, tuple[Web, IntArray, FloatArray]] = {}

    def can(self, key: Key) -> bool:
        """Tell whether a way to speak makes sense here."""
        if key.family in ("spread", "carried"):
            return len(self.boxes.lower) >= MIN_BOXES
        return key.family != "subspace" or self.labelled.shape[1] > 2

    def block(self, key: Key) -> Block:
        """Return what a way to speak hears."""
        if key.family == "linear":
            return Straight(key, self.ranks.blend(self.labelled, key.share))
        if key.family == "feature":
            return Bent(key, self.ranks.blend(self.labelled, key.share))
        if key.family == "carried":
            web, nearest, S = self._web(key.share)
            return Carried(key, web, web.strengths(nearest), S)
        choruses, distances = self._heard(key.family, key.share)
        heard = [
            np.exp(-measured.astype(np.float64) / (key.width * len(chorus.features)))
            for chorus, measured in zip(choruses, distances, strict=True)
        ]
        return Spoken(key, np.hstack(heard), choruses, key.width)

    def spread(self, key: Key, targets: FloatArray) -> tuple[Spread, FloatArray]:
        """Return labels spread over the graph, and how much each labelled sample hears of each box."""
        web, nearest, S = self._web(key.share)
        return Spread(S, key.width, nearest, targets), web.strengths(nearest)

    def web(self, share: float) -> Web:
        """Return the graph of boxes, which says nothing yet."""
        return self._web(share)[0]

    def _web(self, share: float) -> tuple[Web, IntArray, FloatArray]:
        """Return a web that says nothing yet, the box nearest to each labelled sample, and how alike boxes are."""
        if share not in self._webs:
            lower, upper = (self._sides(side, share)[:BOXES_IN_WEB] for side in (self.boxes.lower, self.boxes.upper))
            centres = np.where(lower <= upper, (lower + upper) / 2, 0.5)
            S, neighbours = similarity(centres)
            every = np.arange(len(centres))
            web = Web(share, centres, neighbours, every, np.zeros((len(centres), 0)))
            nearest = web.nearest(self.ranks.blend(self.labelled, share))
            self._webs[share] = web, nearest, S
        return self._webs[share]

    def _heard(self, family: str, share: float) -> tuple[list[Chorus], list[SingleArray]]:
        if (family, share) not in self._choruses:
            choruses = self._make(family, share)
            samples = self.ranks.blend(self.labelled, share)
            measured = [chorus.speakers().distances(chorus.view(samples), self.stop) for chorus in choruses]
            self._choruses[family, share] = choruses, measured
        return self._choruses[family, share]

    def _make(self, family: str, share: float) -> list[Chorus]:
        lower, upper = (self._sides(side, share) for side in (self.boxes.lower, self.boxes.upper))
        n_features = lower.shape[1]
        every = np.arange(min(len(lower), max(MIN_SPEAKING, BOXES_PER_FEATURE * n_features)))
        if family == "subspace":
            some = every[:BOXES_IN_SUBSPACE]
            return [
                Chorus(
                    share, features, np.ones(len(features)), some, lower[some][:, features], upper[some][:, features]
                )
                for features in self.subspaces
            ]
        factors = self._relevance(share) if family == "relevant" else np.ones(n_features)
        return [Chorus(share, np.arange(n_features), factors, every, lower[every] * factors, upper[every] * factors)]

    def _sides(self, side: FloatArray, share: float) -> FloatArray:
        reached = self.boxes.lower <= self.boxes.upper
        return np.where(reached, self.ranks.blend(side, share), side)

    def _relevance(self, share: float) -> FloatArray:
        """Return a factor per feature, mean one: the root of the variance that the classes explain, corrected."""
        samples = self.ranks.blend(self.labelled, share)
        samples = np.where(np.isnan(samples), _means(samples), samples)
        n, n_classes = len(samples), int(self.places.max()) + 1
        of_class = np.eye(n_classes)[self.places]
        sizes = of_class.sum(axis=0)
        means = of_class.T @ samples / np.maximum(sizes, 1)[:, None]
        between = sizes @ (means - samples.mean(axis=0)) ** 2
        total = ((samples - samples.mean(axis=0)) ** 2).sum(axis=0) + 1e-9
        explained = 1.0 - (1.0 - between / total) * (n - 1) / max(n - n_classes, 1)
        root = np.sqrt(np.maximum(explained, 0.0))
        root += 0.1 * (root.max() + 0.01)
        return np.asarray(root * len(root) / root.sum())


def _means(samples: FloatArray) -> FloatArray:
    """Return the mean of each feature over the samples that have it; the middle where none has."""
    known = ~np.isnan(samples)
    return np.where(known.any(axis=0), np.nansum(samples, axis=0) / np.maximum(known.sum(axis=0), 1), 0.5)
