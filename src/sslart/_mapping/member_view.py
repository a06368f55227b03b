"""One network of a fitted model, as everything that only reads the model sees it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sslart._art.backend import encode
from sslart._art.boxes import NO_LIMIT
from sslart._art.learning import LearningParams
from sslart._art.network import Coded, Network
from sslart._data.encoder import Encoder
from sslart._data.labels import UNLABELLED, ClassTable
from sslart._data.samples import Table
from sslart._mapping.base import Mapping
from sslart._utils.arrays import CountArray, FloatArray, IntArray

if TYPE_CHECKING:
    from sslart._mapping.evidence.readout import Readout

CLOSE = 1e-9  # of scores: probabilities that differ by more than rounding have scores that differ by more


@dataclass(frozen=True, eq=False)
class MemberView:
    """One network: the only one of a single model, or a member of an ensemble.

    Attributes
    ----------
    number : int or None
        Index of the member in its ensemble; None in a single model.
    network : Network
        Encoder and nodes.
    class_table : ClassTable
    params : LearningParams
        ρ, α, β, δ.
    mapping : Mapping
        From boxes to classes.
    n_jobs : int or None
    """

    number: int | None
    network: Network
    class_table: ClassTable
    params: LearningParams
    mapping: Mapping
    n_jobs: int | None

    @cached_property
    def at_choice(self) -> MemberView:
        """The same member with the boxes that evidence is summed over: those of the last choice of settings."""
        network = self.mapping.network_of(self.network)
        return self if network is self.network else replace(self, network=network)

    def coded_at_choice(self, coded: FloatArray) -> FloatArray:
        """Return coded values, such as middles of boxes, as the encoder of the last choice of settings codes them."""
        encoder, other = self.encoder, self.at_choice.encoder
        if encoder is other:
            return coded
        units, places = encoder.decode(coded), {feature: place for place, feature in enumerate(encoder.features)}
        matrix = np.full((len(coded), len(other.features)), np.nan)
        for place, feature in enumerate(other.features):
            if feature in places:
                matrix[:, place] = units[:, places[feature]]
        return encode(other, matrix)[0]

    @property
    def readout(self) -> Readout | None:
        """With evidence mapping, the fitted regression; None for other mappings."""
        return self.mapping.readout

    @property
    def encoder(self) -> Encoder:
        """From the user's units to the unit cube."""
        return self.network.encoder

    @property
    def n_nodes(self) -> int:
        """Number of boxes."""
        return self.network.nodes.n_nodes

    @cached_property
    def boxes(self) -> tuple[FloatArray, FloatArray]:
        """Lower and upper corners in the unit cube; lower > upper on a side that no sample has reached."""
        return self.network.nodes.boxes()

    def boxes_of(self, nodes: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the lower and upper corners of some boxes, as copies."""
        n_features = self.network.nodes.n_features
        weights = self.network.nodes.weights_of(nodes.ravel()).reshape(*nodes.shape, 2 * n_features)
        return weights[..., :n_features], 1.0 - weights[..., n_features:]

    @property
    def n_samples(self) -> int:
        """Number of samples learnt."""
        return self.network.nodes.n_samples

    @property
    def fades(self) -> bool:
        """True if samples lose weight as they age: `support` and `counts` are floats then."""
        return self.network.nodes.n_learnt is not None

    @cached_property
    def support(self) -> CountArray:
        """Number of samples that each box has learnt, labelled or not."""
        return self.network.nodes.support

    @cached_property
    def counts(self) -> CountArray:
        """Number of labelled samples of each class that each box has learnt, shape (n_nodes, n_classes)."""
        return self.class_table.by_class(self.network.nodes.counts)

    @cached_property
    def labels(self) -> IntArray:
        """Class index of each box, -1 where it has no label."""
        return self.class_table.indices(self.network.nodes.labels)

    @property
    def kept_labels(self) -> tuple[Table, IntArray] | None:
        """With evidence mapping, the labelled samples that are kept, with their class indices; None for others."""
        kept = self.mapping.kept_labels
        return None if kept is None else (kept[0], self.class_table.indices(kept[1]))

    def encode(self, table: Table) -> FloatArray:
        """Return samples in the unit cube, NaN where missing."""
        return self.network.encode(table)

    def rank(
        self, coded: FloatArray, *, depth: int = 1, labelled_only: bool = False, labels: IntArray | None = None
    ) -> tuple[IntArray, FloatArray]:
        """Return the boxes of highest choice for coded samples, best first, and their match.

        Parameters
        ----------
        coded : array of shape (n_samples, n_coded_features)
        depth : int
            How many boxes to return per sample; -1 fills up where there are no more.
        labelled_only : bool
            Whether only boxes with a label take part.
        labels : array of length n_nodes, or None
            Takes the place of the labels of the boxes: -1 for none.
        """
        return self.network.rank_coded(
            coded,
            self.params.choice,
            depth=depth,
            labelled_only=labelled_only or labels is not None,
            labels=labels,
            n_jobs=self.n_jobs,
        )

    def first_labelled(self, coded: FloatArray, depth: int = NO_LIMIT) -> IntArray:
        """Return the first labelled box among the `depth` best of each coded sample, -1 where there is none."""
        self.network.check_known_features(coded)
        if depth == NO_LIMIT:
            return self.rank(coded, labelled_only=True)[0][:, 0]
        nodes = self.rank(coded, depth=depth)[0]
        labelled = self.label_of(nodes) != UNLABELLED
        first = labelled.argmax(axis=1)[:, None]
        found = np.take_along_axis(labelled, first, axis=1)
        return np.where(found, np.take_along_axis(nodes, first, axis=1), UNLABELLED)[:, 0]

    def label_of(self, nodes: IntArray) -> IntArray:
        """Return the class index of boxes, -1 for no box."""
        codes = self.network.nodes.labels_of(np.maximum(nodes, 0).ravel()).reshape(nodes.shape)
        codes[nodes == UNLABELLED] = UNLABELLED
        return self.class_table.indices(codes)

    def shares_of(self, nodes: IntArray) -> FloatArray:
        """Return the share of each class among the labelled samples of boxes; 0 throughout for no box."""
        counts = self.class_table.by_class(self.network.nodes.counts_of(np.maximum(nodes, 0)))
        counts[nodes == UNLABELLED] = 0
        total = counts.sum(axis=1, keepdims=True)
        return np.asarray(counts / np.where(total > 0, total, 1))

    def scores(self, coded: FloatArray) -> FloatArray:
        """Return the evidence for each class, shape (n_samples, n_classes); -inf for classes not learnt yet.

        Samples are coded as at the last choice of settings, here and in `evidence_proba`.
        """
        assert self.mapping.scoring is not None
        return self.class_table.with_unseen(self.mapping.scoring.scores(coded, self.n_jobs), fill=-np.inf)

    def clear_winner(self, coded: FloatArray) -> int | None:
        """Return the class index of the highest score of one sample; None where another score is as high but for less.

        It is the most probable class, at less cost than the probabilities.
        """
        scores = self.scores(coded)[0].tolist()
        best = max(scores)
        return scores.index(best) if sum(score > best - CLOSE for score in scores) == 1 else None

    def evidence_proba(self, coded: FloatArray) -> FloatArray:
        """Return the probability of each class by evidence mapping; 0 for classes not learnt yet."""
        assert self.mapping.scoring is not None
        return self.class_table.with_unseen(self.mapping.scoring.proba(coded, self.n_jobs))

    def familiarity(self, coded: Coded) -> FloatArray:
        """Return the match of each sample with its best box, minus its distance beyond the learnt range."""
        return self.network.familiarity(coded, self.params.choice, n_jobs=self.n_jobs)
