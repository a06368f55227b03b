"""What was learnt from the labels: how much each box, and each feature, says for each class; and the sum of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sslart._mapping.evidence.packed_boxes import Speakers, filled
from sslart._mapping.evidence.rank_scaler import Ranks
from sslart._utils.arrays import FloatArray, IntArray, SingleArray
from sslart._utils.parallel import run_parallel

ROWS_PER_PIECE = 256
N_KNOTS = 17
NEGLIGIBLE = 0.01
OWN_SHARE = 0.5  # of the nearest box in what is heard of the graph; its neighbours share the rest


@dataclass(frozen=True)
class Chorus:
    """Boxes that speak about some features on one scale.

    Attributes
    ----------
    share : float
        How much of the scale is rank: 0 none, 1 all.
    features : array of int
        The features it hears.
    factors : array of length n_features
        What a distance in each of them counts.
    boxes : array of int
        Which of the boxes it consists of.
    lower, upper : arrays of shape (n_boxes, n_features)
        On that scale.
    """

    share: float
    features: IntArray
    factors: FloatArray
    boxes: IntArray
    lower: FloatArray
    upper: FloatArray

    def view(self, blended: FloatArray) -> FloatArray:
        """Return samples, given on its scale, as this chorus sees them."""
        return blended[:, self.features] * self.factors

    def speakers(self) -> Speakers:
        """Return the boxes, ready to speak."""
        return Speakers.of(self.lower, self.upper)

    def only(self, kept: IntArray) -> Chorus:
        """Return the chorus of some of its boxes."""
        return replace(self, boxes=self.boxes[kept], lower=self.lower[kept], upper=self.upper[kept])


@dataclass(frozen=True)
class Part:
    """A chorus with what it says.

    Attributes
    ----------
    chorus : Chorus
    width : float
        τ at level 0; it halves from level to level.
    weights : array of shape (n_levels, n_classes, n_boxes)
    """

    chorus: Chorus
    width: float
    weights: FloatArray

    @property
    def rate(self) -> float:
        """How fast strength falls off with the distance."""
        return 1.0 / (self.width * len(self.chorus.features))

    def pruned(self) -> Part:
        """Return the part without the boxes that together change no score by more than is negligible."""
        loudness = np.abs(self.weights).sum(axis=0).max(axis=0)
        order = np.argsort(loudness, kind="stable")
        n_silent = int(np.searchsorted(np.cumsum(loudness[order]), NEGLIGIBLE, side="right"))
        kept = np.sort(order[n_silent:])
        return Part(self.chorus.only(kept), self.width, self.weights[:, :, kept])


@dataclass(frozen=True)
class Web:
    """The graph of boxes, with what has travelled to each: a sample hears the nearest box and the neighbours of that.

    Attributes
    ----------
    share : float
    centres : array of shape (n_boxes, n_features)
        On that scale. A missing value of a sample is taken as lying at the mean of them.
    neighbours : array of shape (n_boxes, n_heard)
        The other boxes that are heard with each box.
    boxes : array of int
        Which of the boxes these are.
    weights : array of shape (n_boxes, n_classes)
    """

    share: float
    centres: FloatArray
    neighbours: IntArray
    boxes: IntArray
    weights: FloatArray

    @cached_property
    def _ways(self) -> tuple[FloatArray, SingleArray, SingleArray]:
        """What stands for a missing value, −2 times each centre, and its squared norm."""
        centres = self.centres.astype(np.float32)
        doubled = np.ascontiguousarray(-2.0 * centres.T)
        return self.centres.mean(axis=0), doubled, np.einsum("ij,ij->i", centres, centres)

    def nearest(self, samples: FloatArray) -> IntArray:
        """Return the place of the box whose centre is nearest to each sample, given on its scale."""
        middle, doubled, norms = self._ways
        if np.isnan(samples).any():
            samples = np.where(np.isnan(samples), middle, samples)
        distances = samples.astype(np.float32) @ doubled  # squared, less what is the same for all boxes
        distances += norms
        return np.asarray(distances.argmin(axis=1))

    def strengths(self, nearest: IntArray) -> FloatArray:
        """Return how much of each box is heard, shape (n_samples, n_boxes), by who hears which box best."""
        heard = np.zeros((len(nearest), len(self.boxes)))
        others = self.neighbours[nearest]
        np.put_along_axis(heard, others, (1.0 - OWN_SHARE) / others.shape[1], axis=1)
        heard[np.arange(len(nearest)), nearest] = OWN_SHARE
        return heard

    def smoothed(self) -> FloatArray:
        """Return what is heard at each box: its own weights, and the mean of its neighbours'."""
        return np.asarray(OWN_SHARE * self.weights + (1.0 - OWN_SHARE) * self.weights[self.neighbours].mean(axis=1))


@dataclass(frozen=True)
class Line:
    """A trend: straight in each feature on one scale. A missing value stands at the centre, and says nothing."""

    share: float
    centre: FloatArray
    slopes: FloatArray


@dataclass(frozen=True)
class Curves:
    """A curve per feature and class on one scale: straight between evenly spaced knots; shape (D, knots, classes)."""

    share: float
    heights: FloatArray

    def said(self, samples: FloatArray) -> FloatArray:
        """Return what each feature of each sample says, shape (n_samples, n_features, n_classes)."""
        below, part = hats(samples)
        each = np.arange(samples.shape[1])
        part = part[:, :, None]
        said = (1.0 - part) * self.heights[each, below] + part * self.heights[each, below + 1]
        return np.asarray(np.where(np.isnan(samples)[:, :, None], 0.0, said))


def hats(values: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the knot below each value in [0, 1], and how far the value lies on the way to the next."""
    position = np.clip(np.nan_to_num(values), 0.0, 1.0) * (N_KNOTS - 1)
    below = np.minimum(position.astype(np.int64), N_KNOTS - 2)
    return below, position - below


@dataclass(frozen=True)
class Readout:
    """All that is said, as data.

    Attributes
    ----------
    ranks : Ranks
    parts : tuple of Part
    webs : tuple of Web
    lines : tuple of Line
    curves : tuple of Curves
    bias : array of length n_classes
    sharpness : float
        What scores are multiplied by before they become probabilities.
    doubt : float
        Share of the probability that is spread evenly, as the labels are few.
    """

    ranks: Ranks
    parts: tuple[Part, ...]
    webs: tuple[Web, ...]
    lines: tuple[Line, ...]
    curves: tuple[Curves, ...]
    bias: FloatArray
    sharpness: float
    doubt: float

    def scores(self, coded: FloatArray, n_jobs: int | None = None) -> FloatArray:
        """Return the evidence for each class, shape (n_samples, n_classes)."""
        ready = [(part, part.chorus.speakers(), filled(part.weights)) for part in self.parts]
        heard = [web.smoothed() for web in self.webs]
        starts = range(0, max(len(coded), 1), ROWS_PER_PIECE)
        pieces = run_parallel(
            lambda start, stop: self._piece(coded[start : start + ROWS_PER_PIECE], ready, heard, stop), starts, n_jobs
        )
        return np.concatenate(pieces)

    def _scales(self, coded: FloatArray) -> dict[float, FloatArray]:
        """Return the samples on every scale that somebody speaks on."""
        everyone: list[Any] = [*(part.chorus for part in self.parts), *self.webs, *self.lines, *self.curves]
        return {share: self.ranks.blend(coded, share) for share in {one.share for one in everyone}}

    def _piece(
        self, coded: FloatArray, ready: list[tuple[Part, Speakers, SingleArray]], heard: list[FloatArray], stop: Any
    ) -> FloatArray:
        on = self._scales(coded)
        scores = np.tile(self.bias, (len(coded), 1))
        for part, speakers, weights in ready:
            speakers.hear(part.chorus.view(on[part.chorus.share]), part.rate, weights, scores, stop)
        for web, smoothed in zip(self.webs, heard, strict=True):
            scores += smoothed[web.nearest(on[web.share])]
        for line in self.lines:
            scores += np.nan_to_num(on[line.share] - line.centre) @ line.slopes
        for curves in self.curves:
            scores += curves.said(on[curves.share]).sum(axis=1)
        return scores

    def by_box(self, coded: FloatArray, n_boxes: int, stop: Any) -> FloatArray:
        """Return what each box says about each sample, shape (n_samples, n_classes, n_boxes)."""
        said = np.zeros((n_boxes, len(coded), len(self.bias)))
        for boxes, strengths, weights in self._voices(coded, stop):
            said[boxes] += strengths.T[:, :, None] * weights.T[:, None]
        return said.transpose(1, 2, 0)

    def between(self, coded: FloatArray, first: IntArray, second: IntArray, n_boxes: int, stop: Any) -> FloatArray:
        """Return what each box says for one class of each sample less for another, shape (n_samples, n_boxes).

        `second` is -1 for samples that have no other class.
        """
        said = np.zeros((len(coded), n_boxes))
        for boxes, strengths, weights in self._voices(coded, stop):
            of_class = np.vstack([weights, np.zeros(len(boxes))])
            said[:, boxes] += strengths * (of_class[first] - of_class[second])
        return said

    def _voices(self, coded: FloatArray, stop: Any) -> Iterator[tuple[IntArray, FloatArray, FloatArray]]:
        """Yield boxes (each once), how loudly they speak of each sample, and their weights (n_classes, n_boxes)."""
        on = self._scales(coded)
        for part in self.parts:
            chorus = part.chorus
            distances = chorus.speakers().distances(chorus.view(on[chorus.share]), stop)
            strengths = np.exp(-part.rate * distances.astype(np.float64))
            for weights in part.weights:
                yield chorus.boxes, strengths, weights
                strengths = strengths**2
        for web in self.webs:
            yield web.boxes, web.strengths(web.nearest(on[web.share])), web.weights.T

    def at_full_strength(self, n_boxes: int) -> FloatArray:
        """Return what each box says of a sample inside it, shape (n_boxes, n_classes); NaN for a box that is silent."""
        said = np.full((n_boxes, len(self.bias)), np.nan)
        for part in self.parts:
            boxes = part.chorus.boxes
            said[boxes] = np.nan_to_num(said[boxes]) + part.weights.sum(axis=0).T
        for web in self.webs:
            said[web.boxes] = np.nan_to_num(said[web.boxes]) + OWN_SHARE * web.weights
        return said

    def by_feature(self, coded: FloatArray) -> FloatArray:
        """Return what each feature says by itself about each sample, shape (n_samples, n_classes, n_features)."""
        on = self._scales(coded)
        said = np.zeros((*coded.shape, len(self.bias)))
        for line in self.lines:
            said += np.nan_to_num(on[line.share] - line.centre)[:, :, None] * line.slopes
        for curves in self.curves:
            said += curves.said(on[curves.share])
        return said.transpose(0, 2, 1)

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """Return scores as probabilities that sum to one."""
        sharp = self.sharpness * (scores - scores.max(axis=1, keepdims=True))
        shares = np.exp(sharp)
        shares /= shares.sum(axis=1, keepdims=True)
        return np.asarray((1.0 - self.doubt) * shares + self.doubt / scores.shape[1])

    @property
    def n_speaking(self) -> int:
        """How many boxes have a say."""
        boxes = [*(part.chorus.boxes for part in self.parts), *(web.boxes for web in self.webs)]
        return len(np.unique(np.concatenate(boxes))) if boxes else 0
