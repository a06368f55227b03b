"""SSLART, a semi-supervised classifier, and AutoSSLART, which selects its settings by leave-one-out."""

from __future__ import annotations

from collections.abc import Mapping as Attributes
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from sslart._art.boxes import LearningParams
from sslart._art.network import Network
from sslart._art.novelty import LeftOut, Measured, NoveltyCalibration
from sslart._data.labels import Beside, ClassTable, Labels, Presentations
from sslart._data.samples import SampleReader, Table, known_columns
from sslart._data.training import read_training
from sslart._mapping import evidence
from sslart._mapping.base import CountsMapping, Mapping
from sslart._mapping.evidence.settings import EvidenceSettings, FixedSettings
from sslart._mapping.mergeable_state import LabelledRows, Shared
from sslart._utils.arrays import IntArray
from sslart._utils.validation import MAX_SEED
from sslart.estimators._base import LATER, random_of_part
from sslart.estimators._classifier import ARTClassifier, GuaranteedClassifier
from sslart.estimators._fitted import FittedMember, FittedModel, available, turn_of
from sslart.estimators._learning import FitMeter, calibration_after, settled
from sslart.estimators._parameters import EVIDENCE, documented


@documented
class SSLART(GuaranteedClassifier, ARTClassifier):
    """SSL-ART: a semi-supervised classifier that learns boxes in one pass.

    Stage 1 learns boxes from the unlabelled samples, stage 2 continues with the labelled ones and counts the labels of
    each class in each box. The prediction is the class of the best box, or of the next best one with a label, up to
    search depth T.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sslart import SSLART
    >>> X, y = load_iris(return_X_y=True)
    >>> few = y.copy()
    >>> few[[i for i in range(150) if i % 10]] = -1  # keep one label in ten
    >>> model = SSLART(vigilance=0.8, random_state=0).fit(X, few)
    >>> model.n_nodes_, model.n_labelled_nodes_
    (21, 9)
    >>> model.predict(X[:3])
    array([0, 0, 0])
    >>> round(model.score(X, y), 2)
    0.83
    """

    __metadata_request__fit = __metadata_request__partial_fit = {"groups": True}  # noqa: RUF012
    class_weight = None

    def __init__(
        self,
        vigilance: float = 0.9,
        *,
        max_nodes: int | None = None,
        choice: float = 1e-3,
        learning_rate: float = 1.0,
        mapping: str = "one-to-many",
        match_tracking: float = 1e-6,
        search_depth: int | None = None,
        abstain_below: float | None = None,
        max_error: float | dict[Any, float] | None = None,
        confidence: float | None = 0.9,
        decision_costs: Any = None,
        families: Any = None,
        bandwidth: float | None = None,
        ridge: float | None = None,
        rank_weight: float | None = None,
        max_labels: int = 50_000,
        half_life: float | str | None = None,
        bounds: Any = None,
        scaling: str = "range",
        shuffle: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self._set(locals())

    def _one_to_one(self) -> bool:
        return bool(self._check("mapping") == "one-to-one")

    def _learning_params(self) -> LearningParams:
        self._evidence_settings(0)
        return super()._learning_params()

    def _evidence_settings(self, seed: int) -> EvidenceSettings:
        """Return the validated parameters of evidence mapping."""
        fixed = FixedSettings.checked(self._name, self.families, self.bandwidth, self.ridge, self.rank_weight)
        half_life = self._checked_half_life()
        return EvidenceSettings.checked(self._name, fixed, self.max_labels, seed, self.class_weight, half_life)

    def _new_mapping(self) -> Mapping:
        if self._uses_evidence():
            return evidence.EvidenceMapping(self._evidence_settings(seed_of(self.random_state)))
        return super()._new_mapping()

    def _mapping_to_update(self, before: FittedModel) -> Mapping:
        mapping = mapping_in_use(self._name, self.mapping, before.mapping)
        if not isinstance(mapping, CountsMapping):
            settings = self._evidence_settings(mapping.settings.seed)  # type: ignore[attr-defined]
            if settings != mapping.settings:  # type: ignore[attr-defined]
                return mapping.with_settings(settings)  # type: ignore[attr-defined,no-any-return]
        return mapping

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        groups: Any = None,
        sample_weight: Any = None,
        answers: Any = None,
        at_random: Any = None,
    ) -> Self:
        """Fit from scratch: learn boxes from the unlabelled samples, then boxes and classes from the labelled ones.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Raw features; NaN where a value is missing.
        y : array-like of shape (n_samples,)
            Classes: integers, strings or booleans; -1, None or NaN where unlabelled.
        groups : array-like of shape (n_samples,), default=None
            Groups of dependent samples, such as patient, batch or day: with evidence mapping, the labels of a group are
            left out together when leave-one-out selects settings or measures quality. Duplicates are always a group.
            Unlabelled samples may have None.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights: 2 is the sample twice, 0 no sample. With evidence mapping any weights from 0 up, otherwise
            whole numbers. Boxes learn a sample as often as its rounded weight, from once to 100 times. In the selection
            of settings no sample counts more than once, just as duplicates do not.
        answers : array-like of shape (n_samples,), default=None
            Name of the answer that gave each label, for labels of several samples by one answer: they are left out
            together, and count one. None for a label of its own.
        at_random : array-like of bool of shape (n_samples,), default=None
            Mask of samples that were drawn at random to be labelled. The labels of others, chosen by queries, are
            learnt, but `quality_`, `max_error` and `predict_set` rest on those drawn at random. Figures then hold
            whenever they are looked at while labels are added. None: all were drawn at random.
        """
        with turn_of(self):
            checked, reader = self._checked(None), SampleReader(self._name)
            beside = Beside(groups, sample_weight, answers, at_random)
            table, labels = read_training(reader, X, y, scaling=self.scaling, beside=beside)
            self._check_weights(labels)
            order = self._order(labels, self.random_state)
            model, _ = self._fit_table(known_columns(reader), table, labels, order)
            model = grouped_by_dependence(model, labels)
            self._publish(replace(model, checked=checked))
        return self

    def __sslart_learns_later__(self) -> int:
        return 0 if self._uses_evidence() else self._evidence_settings(0).max_labels

    def __sslart_learn_later__(self, columns: Attributes[str, Any], rows: LabelledRows) -> None:
        """Learn the labelled samples of all parts of a table, after the boxes of the other samples were merged."""
        self._check_weights(rows.labels)
        before: FittedModel | None = vars(self).get("_model")
        calibration = None if before is None else settled(before.calibration, None)
        member = None if before is None else before.members[0]
        random = random_of_part(rows.seed, LATER)
        member, measured = self._learn_labelled(
            member, columns, rows.table, rows.labels, random, rows.shared, calibration
        )
        calibration = calibration_after(calibration, [measured])
        members = (replace(member, calibration=calibration),)
        model = FittedModel(columns, (), member.class_table, None) if before is None else before
        self.__sslart_take__(replace(model, members=members, class_table=member.class_table, calibration=calibration))

    def _learn_labelled(
        self,
        before: FittedMember | None,
        columns: Attributes[str, Any],
        table: Table,
        labels: Labels,
        random_state: Any,
        shared: Shared,
        calibration: NoveltyCalibration | None,
        stop: Any = None,
    ) -> tuple[FittedMember, Measured | LeftOut | None]:
        """Learn labelled samples after the unlabelled ones of all parts; return the member and the measured fits.

        `calibration`: of the model, or of its ensemble.
        """
        order = self._order(labels, random_state)
        if before is None:
            model, measured = self._fit_table(columns, table, labels, order, stop, shared)
            return model.members[0], measured
        params = replace(self._learning_params(), half_life=None)
        shown = Presentations(labels[order].presentations)
        in_order, own = table[order][shown.rows], labels[order][shown.rows]
        meter = FitMeter(in_order, calibration, afresh=False, groups=own.groups)
        class_table = before.class_table.learning(labels)
        codes, n_classes = class_table.codes(own), len(class_table.seen)
        network, learnt = before.network.learned(in_order, codes, n_classes, params, measured=meter.wanted(), stop=stop)
        member = replace(before, network=network, class_table=class_table)
        return member, meter.measured(network, learnt, params)

    def _order(self, labels: Labels, random_state: Any) -> IntArray:
        """Return the order of learning: unlabelled samples, then labelled ones, each shuffled or as given."""
        stages = [np.flatnonzero(~labels.known), np.flatnonzero(labels.known)]
        if self.shuffle:
            random = check_random_state(random_state)
            stages = [random.permutation(stage) for stage in stages]
        return np.concatenate(stages)

    @property
    @available
    def family_weights_(self) -> dict[str, float]:
        """With evidence mapping, weight of each family of basis functions; they sum to one."""
        return evidence_of(self._name, self._fitted().mapping).family_weights

    def _state_of(self, model: FittedModel, *, samples: bool, promises: bool) -> dict[str, Any]:
        state = super()._state_of(model, samples=samples, promises=promises)
        own = model.mapping.to_state(samples=samples, promises=promises or self.max_error is not None)
        return state if own is None else {**state, EVIDENCE: own}

    def _restored_mapping(
        self, state: dict[str, Any], network: Network, class_table: ClassTable, params: LearningParams
    ) -> Mapping:
        if EVIDENCE not in state:
            return CountsMapping(params.one_to_one)
        return evidence.EvidenceMapping.from_state(state[EVIDENCE], network, class_table)


def grouped_by_dependence(model: FittedModel, labels: Labels) -> FittedModel:
    """Return a fitted model with the labels of dependent rows left out together, if a test shows dependence."""
    first = model.members[0].mapping
    units = first.dependent_units(labels.units) if labels.units else None
    if units is None:
        return model
    members = tuple(replace(one, mapping=one.mapping.grouped_by(units)) for one in model.members)
    return replace(model, members=members)


def evidence_of(owner: str, mapping: Mapping) -> evidence.EvidenceMapping:
    """Return the mapping if it is evidence mapping, or raise a ValueError."""
    return mapping_in_use(owner, EVIDENCE, mapping)  # type: ignore[return-value]


def mapping_in_use(owner: str, name: str, learnt: Mapping) -> Mapping:
    """Return the mapping named by a parameter, given the mapping that a network was learnt with."""
    if name != EVIDENCE:
        return CountsMapping(name == "one-to-one")
    if not learnt.uses_evidence:
        raise ValueError(
            f"This {owner} has learnt with another mapping and keeps no labelled samples: fit it again with "
            "mapping='evidence'."
        )
    return learnt


def seed_of(random_state: Any) -> int:
    """Return an integer `random_state` unchanged, else draw a seed from it."""
    if isinstance(random_state, int | np.integer):
        if not 0 <= random_state < MAX_SEED:
            raise ValueError(f"random_state must be from 0 to 2**32 - 1 where it is a number, got {random_state}.")
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


@documented
class AutoSSLART(SSLART):
    """SSL-ART with evidence mapping and all settings selected by leave-one-out on the labelled samples.

    Boxes are learnt in one pass, unlabelled samples first. The boxes, the features and the graph of boxes are then
    basis functions of a ridge regression on the labelled samples, in which near boxes contribute most. Nothing needs
    tuning.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sslart import AutoSSLART
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = y.copy()
    >>> few[[i for i in range(len(y)) if i % 20]] = -1  # keep one label in twenty
    >>> model = AutoSSLART(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.93
    True
    """

    choice = 1e-3
    learning_rate = 1.0
    mapping = "evidence"
    match_tracking = 1e-6
    families = None
    bandwidth = None
    ridge = None
    rank_weight = None
    shuffle = True

    def __init__(
        self,
        vigilance: float = 0.9,
        *,
        max_nodes: int | None = 10_000,
        search_depth: int | None = None,
        abstain_below: float | None = None,
        max_error: float | dict[Any, float] | None = None,
        confidence: float | None = 0.9,
        decision_costs: Any = None,
        class_weight: Any = None,
        max_labels: int = 50_000,
        half_life: float | str | None = None,
        bounds: Any = None,
        scaling: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self._set(locals())
