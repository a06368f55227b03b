"""Components of an explanation: votes, novelty, and advice. Plain data, without any search."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from sslart._data.labels import UNLABELLED
from sslart._mapping.ensemble_votes import Ballot
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.cache import Deferred
from sslart.explain._contributions import Evidence, EvidenceTable
from sslart.explain._counterfactuals.changes import Counterfactual, CounterfactualTable
from sslart.explain._match import NO_NODE, Box, Class, MatchedBoxes
from sslart.explain._search_path import SearchPaths, SearchStep
from sslart.explain._text import explanation as text


@dataclass(frozen=True)
class Vote:
    """Vote of one member of an ensemble.

    Attributes
    ----------
    member : int
    vote : class or None
        None where the member abstained.
    weight : float
        What the vote counts; 0 without a vote. With evidence mapping, times the member's probability for it.
    node : int or None
        The box of the member that the vote comes from; None with evidence mapping, where it comes from all boxes.
    """

    member: int
    vote: Class | None
    weight: float
    node: int | None


@dataclass(frozen=True)
class Novelty:
    """Why a sample is novel, or matches no box as well as vigilance demands.

    Attributes
    ----------
    familiarity : float
        What `score_samples` returns: the match of the best box, less the way beyond the learnt range.
    vigilance : float
        The match that the model demands.
    node : int
        The best box.
    features : tuple of str
        The features that make up most of the distance to that box, and those beyond the learnt range.
    threshold : float
        The model's `novelty_threshold_`: of samples like those learnt, at most 5 in 100 fit worse. 0 where too few
        samples were learnt to flag any.
    """

    familiarity: float
    vigilance: float
    node: int
    features: tuple[str, ...]
    threshold: float

    @property
    def is_novel(self) -> bool:
        """True if at most 5 % of samples like the learnt ones would fit worse."""
        return self.familiarity < self.threshold

    @property
    def is_beyond(self) -> bool:
        """True if the mean distance per feature from the best box is a whole range or more."""
        return self.familiarity <= 0


@dataclass(frozen=True)
class Advice:
    """Advice on which box to label where a model abstains.

    Attributes
    ----------
    node : int
        The unlabelled box, among those searched, that holds most samples.
    member : int or None
        Which member of an ensemble it belongs to.
    support : int
        How many samples it holds; a float where they count less as they age.
    """

    node: int
    member: int | None
    support: float


class LowConfidence(NamedTuple):
    """A confidence too low for a prediction.

    Attributes
    ----------
    confidence : float
    limit : float or None
        None where no confidence is high enough.
    max_error : float or None
        What the limit follows from; None: it is `abstain_below`.
    """

    confidence: float
    limit: float | None
    max_error: float | None


@dataclass(frozen=True)
class MemberFindings:
    """Findings in one network for several samples.

    Attributes
    ----------
    paths : SearchPaths
    boxes, opposing, best : MatchedBoxes
        The box behind each prediction, the box of another class, and the best match. With evidence mapping, the first
        is the best-ranked box with a label.
    unlabelled_near : dict from row to (node, support)
        The box to label, of samples whose probability is too low.
    similar : tuple of MatchedBoxes
        With evidence mapping, the most similar boxes, best first.
    alternatives : tuple of MatchedBoxes
        Further boxes where the prediction may be another class.
    """

    paths: SearchPaths
    boxes: MatchedBoxes
    opposing: MatchedBoxes
    best: MatchedBoxes
    unlabelled_near: dict[int, tuple[int, int]]
    similar: tuple[MatchedBoxes, ...] = ()
    alternatives: tuple[MatchedBoxes, ...] = ()


@dataclass(frozen=True)
class BoxFindings:
    """Findings in the boxes of a model for several samples.

    Attributes
    ----------
    members : list of MemberFindings
    member_of, row_in : arrays of int of length n_samples
        Which of them has a sample, and in which row.
    familiarity : array of length n_samples
    novelty_threshold : float
    """

    members: list[MemberFindings]
    member_of: IntArray
    row_in: IntArray
    familiarity: FloatArray
    novelty_threshold: float


@dataclass(frozen=True)
class ModelFindings:
    """Findings in a whole model for several samples.

    Attributes
    ----------
    boxes : Deferred of BoxFindings
    counterfactuals : Deferred of CounterfactualTable
    vigilance : float
    ballot : Ballot or None
        The votes of an ensemble.
    classes : list
    low_confidence : list of LowConfidence or None of length n_samples
        Why the model abstains, where its confidence is too low.
    quorum : int
        How many members of an ensemble must vote.
    evidence : EvidenceTable or None
    expected_costs : array of shape (n_samples, n_classes), or None
        The expected cost of predicting each class; None for a model without costs.
    """

    boxes: Deferred[BoxFindings]
    counterfactuals: Deferred[CounterfactualTable]
    vigilance: float
    ballot: Ballot | None
    classes: list[Any]
    low_confidence: list[LowConfidence | None]
    quorum: int
    evidence: EvidenceTable | None
    expected_costs: FloatArray | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Why a model predicts a class for one sample.

    `str()` gives it in plain words; notebooks show a table. Parts are computed when they are first read, or before the
    model goes on learning: an explanation stays that of the model as it was.

    Attributes
    ----------
    prediction : class, or -1 or None
        What `predict` returns; -1 or None, as there, where the model abstains.
    abstained : bool
        Whether it abstains: none of the T best boxes has a label, or the confidence is too low
        for `abstain_below` or `max_error`.
    confidence : float or None
        What `predict_proba` returns for the prediction; None where the model abstains.
    expected_costs : dict from class to float, or None
        What predicting each class is expected to cost; the prediction is the class of the lowest. None for a model
        without `decision_costs`.
    search_path : tuple of SearchStep
        The boxes searched, best first, up to the first with a label, or to T. With evidence mapping all boxes
        contribute, and it is empty, but where the model abstains because none of the T best has a label.
    box : Box
        The box that the prediction comes from; the best one where the model abstains. In an ensemble, that of the
        member with the greatest weight among those that voted for the prediction. With evidence mapping, where no
        single box decides, the best-ranked box with a label.
    opposing_box : Box or None
        The best-ranked box of another class, or where costs decide, of another prediction; None where there is none.
    evidence : Evidence or None
        With evidence mapping, the contributions of the features to the predicted class against the runner-up. None for
        other mappings.
    similar_boxes : tuple of Box
        With evidence mapping, the boxes that match the sample best, labelled or not. In an ensemble,
        those of the member that adds most to the prediction.
    low_confidence : (float, float) or None
        The highest probability and `abstain_below`, where the model abstains because the first is below the second.
        With `max_error`, the probability of the class and the limit that follows from `max_error`; None in place of the
        limit where no confidence is high enough.
    max_error : float or None
        The error that the limit in `low_confidence` follows from; None where that is `abstain_below`.
    counterfactual : Counterfactual or None
        The smallest change found that leads to another prediction, checked by predicting it; None where none was found.
    advice : Advice or None
        Which label would help most, where the model abstains.
    novelty : Novelty or None
        Why the sample is unlike all learnt samples; None where it is not.
    votes : tuple of Vote or None
        How each member voted; None unless the model is an ensemble.
    quorum : int
        How many members of an ensemble must vote before it predicts; 1 for a single model.
    scores : dict from class to float, or None
        The sum of the votes for each class; with evidence mapping, of the weighted probabilities. None unless the
        model is an ensemble.
    """

    prediction: Class | None
    abstained: bool
    confidence: float | None
    _model: ModelFindings
    _row: int

    @property
    def _member(self) -> MemberFindings:
        boxes = self._model.boxes.get()
        return boxes.members[boxes.member_of.item(self._row)]

    @property
    def _member_row(self) -> int:
        return int(self._model.boxes.get().row_in[self._row])

    @cached_property
    def box(self) -> Box:
        """The box behind the prediction; with evidence mapping or abstention, the best box."""
        box = self._member.boxes[self._member_row]
        assert box is not None
        return box

    @cached_property
    def opposing_box(self) -> Box | None:
        """The best-ranked box of another class; None where there is none."""
        return self._member.opposing[self._member_row]

    @cached_property
    def counterfactual(self) -> Counterfactual | None:
        """The smallest change found that leads to another prediction; None where none was found."""
        return self._model.counterfactuals.get()[self._row]

    @property
    def search_path(self) -> tuple[SearchStep, ...]:
        """The boxes searched, best first, up to the first with a label, or to T; none where all contribute."""
        if self._model.evidence is not None and (self.low_confidence is not None or not self.abstained):
            return ()
        return self._member.paths.steps(self._member_row)

    @property
    def low_confidence(self) -> tuple[float, float | None] | None:
        """The highest probability and the limit it does not reach, where the model abstains because of that."""
        low = self._model.low_confidence[self._row]
        return None if low is None else (low.confidence, low.limit)

    @property
    def max_error(self) -> float | None:
        """The error that the limit in `low_confidence` follows from; None where that is `abstain_below`."""
        low = self._model.low_confidence[self._row]
        return None if low is None else low.max_error

    @property
    def quorum(self) -> int:
        """Number of members of an ensemble that must vote before it predicts; 1 for a single model."""
        return self._model.quorum

    @cached_property
    def evidence(self) -> Evidence | None:
        """The contributions to the predicted class against the runner-up; None without evidence mapping."""
        table = self._model.evidence
        return None if table is None else table[self._row]

    @cached_property
    def similar_boxes(self) -> tuple[Box, ...]:
        """With evidence mapping, the boxes that match the sample best; none for other mappings."""
        boxes = (matched[self._member_row] for matched in self._member.similar)
        return tuple(box for box in boxes if box is not None)

    @cached_property
    def advice(self) -> Advice | None:
        """The box whose label would help most, if the model abstains."""
        if not self.abstained:
            return None
        own, row = self._member, self._member_row
        found = own.paths.largest(row) if self.low_confidence is None else own.unlabelled_near.get(row)
        return None if found is None else Advice(found[0], self.box.member, found[1])

    @cached_property
    def novelty(self) -> Novelty | None:
        """Why the sample is novel, or matches no box as well as vigilance demands; None where neither holds."""
        boxes, vigilance = self._model.boxes.get(), self._model.vigilance
        familiarity = boxes.familiarity.item(self._row)
        if familiarity >= max(vigilance, boxes.novelty_threshold) and familiarity > 0:
            return None
        best, row = self._member.best, self._member_row
        features = best.most_distant_features(row)
        return Novelty(familiarity, vigilance, best.nodes.item(row), features, boxes.novelty_threshold)

    @cached_property
    def votes(self) -> tuple[Vote, ...] | None:
        """Vote of each member; None unless the model is an ensemble."""
        ballot, row, classes = self._model.ballot, self._row, self._model.classes
        if ballot is None:
            return None
        columns = (ballot.votes[:, row].tolist(), ballot.weights[:, row].tolist(), ballot.nodes[:, row].tolist())
        return tuple(
            Vote(member, None, 0.0, None)
            if index == UNLABELLED
            else Vote(member, classes[index], weight, None if node == NO_NODE else node)
            for member, (index, weight, node) in enumerate(zip(*columns, strict=True))
        )

    @cached_property
    def scores(self) -> dict[Class, float] | None:
        """The sum of the votes for each class; None unless the model is an ensemble."""
        ballot, row, classes = self._model.ballot, self._row, self._model.classes
        if ballot is None:
            return None
        return dict(zip(classes, ballot.scores[row].tolist(), strict=True))

    @cached_property
    def expected_costs(self) -> dict[Class, float] | None:
        """Expected cost of predicting each class; None for a model without costs."""
        costs = self._model.expected_costs
        return None if costs is None else dict(zip(self._model.classes, costs[self._row].tolist(), strict=True))

    def __str__(self) -> str:
        return text.as_text(self)

    def __repr__(self) -> str:
        return f"<Explanation: {text.headline(self)}>"

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain values that JSON knows."""
        return text.as_dict(self)

    def _repr_html_(self) -> str:
        return text.as_html(self)
