"""What the classifiers that are one network each share: learning in stages, and the view of the model."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sslart._art.calibration import LeftOut, Measured, NoveltyCalibration
from sslart._art.learn_result import LearnResult
from sslart._art.network import NO_LIMIT, Network
from sslart._data.classes import ClassTable
from sslart._data.labels import UNLABELLED, Labels
from sslart._data.presentations import Presentations
from sslart._data.samples import Table, known_columns
from sslart._data.training import check_has_label
from sslart._drift.monitor import NO_DRIFT, Learnt
from sslart._mapping.base import Choice, Mapping
from sslart._mapping.decision_costs import check_costs, cost_matrix
from sslart._mapping.member_view import MemberView
from sslart._mapping.model_view import ModelView
from sslart._mapping.parts import MemberParts, ModelParts, Shared
from sslart._utils.arrays import BoolArray, CountArray, IntArray
from sslart._utils.changes import Changes, Reader
from sslart.estimators._base import ARTEstimator, random_of_part
from sslart.estimators._classifier import AbstainingClassifier
from sslart.estimators._novelty import FitMeter, calibration_after, settled
from sslart.estimators._published import READER, draft_of, reads, reads_attribute


class ARTClassifier(AbstainingClassifier, ARTEstimator):
    """Base of the classifiers that are one network each."""

    random_state: Any
    _mapping: Mapping

    @abstractmethod
    def _new_mapping(self) -> Mapping:
        """Return the mapping of a model that has learnt nothing yet."""

    def _present_mapping(self) -> Mapping:
        """Return the mapping to predict with, as the parameters are now."""
        return self._new_mapping()

    def _mapping_to_update(self) -> Mapping:
        """Return the mapping to go on learning with."""
        return self._present_mapping()

    def _held_by(self, reader: Reader) -> dict[str, Any]:
        held = super()._held_by(reader)
        mapping = self._mapping
        if mapping.shares(self._network):
            mapping = mapping.with_network(held["_network"])
        return {**held, "_mapping": mapping}

    def _view(self) -> ModelView:
        mapping = self._present_mapping()
        member = MemberView(
            None,
            mapping.network_of(self._network),
            self._class_table,
            self._params_in_use(),
            mapping,
            self.n_jobs,
            self._network,
            vars(self).get(READER),
        )
        return ModelView(
            self._name,
            (member,),
            None,
            self._class_table,
            self._reader(),
            self._search_depth(),
            self._min_probability(),
            decision_costs=self._cost_matrix(),
            max_error=self._error_levels(),
            calibration=self._calibration,
        )

    def _check_prediction_params(self) -> None:
        self._search_depth()
        self._min_probability()
        check_costs(self._name, self.decision_costs)
        self._check_max_error()

    def _check_weights(self, labels: Labels) -> None:
        """Raise a ValueError where samples have weights that the mapping cannot take."""
        weights = labels.weights
        if weights is not None and not self._new_mapping().uses_evidence and (weights != np.rint(weights)).any():
            raise ValueError(
                f"sample_weight of {self._name} must be whole numbers unless mapping='evidence': boxes count samples, "
                "and a weight of 2 is the sample twice. Round the weights, or use evidence mapping, which takes any "
                "weights."
            )

    def _fit_table(
        self, table: Table, labels: Labels, order: slice | IntArray, stop: Any = None, shared: Shared | None = None
    ) -> Measured | LeftOut | None:
        """Learn a table afresh, in an order that has the unlabelled samples before the labelled ones.

        Of a part of a table, `shared` is what all parts have in common; no settings are chosen then.
        """
        self._check_prediction_params()
        params, mapping = replace(self._learning_params(), half_life=None), self._new_mapping()
        if shared is None:
            encoder = self._first_encoder(table, Presentations(labels.presentations).rows, stream=False)
            shared, choose = Shared(encoder, ClassTable().learning(labels[order])), Choice.CAREFUL
        else:
            choose = Choice.NONE
        network, class_table = Network(shared.encoder), shared.class_table
        cost_matrix(self._name, self.decision_costs, class_table.classes)
        self._check_max_error(class_table.classes)
        mapping.check_classes(self._name, class_table)
        codes = class_table.codes(labels)
        shown = Presentations(labels[order].presentations)
        in_order, groups = table[order][shown.rows], labels[order][shown.rows].groups
        learnt = network.learn(in_order, codes[order][shown.rows], len(class_table.seen), params, stop=stop)
        network.nodes.trim()
        measured = FitMeter(in_order, None, afresh=True, groups=groups).measured(network, learnt, params)
        mapping = mapping.learned(
            network, class_table, table, codes, labels, choose=choose, is_last=True, in_order=False
        )
        self._network, self._class_table, self._mapping = network, class_table, mapping
        self._calibration, self._drift = calibration_after(None, [measured]), NO_DRIFT
        return measured

    def _partial_fit_table(
        self,
        table: Table,
        labels: Labels,
        declared: Labels | None,
        changes: Changes,
        order: slice | IntArray = slice(None),
        *,
        is_member: bool = False,
        stop: Any = None,
    ) -> tuple[LearnResult, Measured | LeftOut | None]:
        """Go on learning a table in the given order.

        A member of an ensemble predicts labelled samples as `predict` does before it learns them; others predict them
        by the box that takes them, where that has a label and the mapping has no prediction, and watch for drift.
        """
        self._check_prediction_params()
        first = not self.__sklearn_is_fitted__()
        params, mapping = self._learning_params(), self._new_mapping() if first else self._mapping_to_update()
        published = None if first else self._network
        if published is None:
            network = Network(self._first_encoder(table, Presentations(labels.presentations).rows, stream=True))
        else:
            network = published
        class_table = ClassTable() if first else self._class_table
        table, labels = table[order], labels[order]
        after = (class_table if declared is None else class_table.declaring(declared)).learning(labels)
        codes = after.codes(labels)
        calibration = settled(NoveltyCalibration.of_stream() if first else self._calibration, params.half_life)
        shown = Presentations(labels.presentations)
        shown_table, shown_codes = table[shown.rows], codes[shown.rows]
        groups = labels[shown.rows].groups
        meter = FitMeter(shown_table, calibration, afresh=first and self.bounds is None, groups=groups)
        results, predicted = [], list[tuple[slice, IntArray]]()
        n_seen, end = len(class_table.seen), 0
        while end < len(codes):
            segment, choose = mapping.segment(codes[end:], n_seen)
            rows = slice(end, end + segment.stop)
            end = rows.stop
            if n_seen < len(after.seen):
                n_seen = max(n_seen, int(codes[rows].max(initial=UNLABELLED)) + 1)
            known = after.first(n_seen)
            own = shown.of(rows)
            network, result = network.learned(
                shown_table[own],
                shown_codes[own],
                n_seen,
                params,
                None if choose or mapping.shares(network) else changes,
                is_published=network is published or mapping.shares(network),
                predict_depth=NO_LIMIT,
                predict_by_first=not is_member,
                measured=meter.wanted(own),
                stop=stop,
            )
            results.append(result)
            mapping = mapping.learned(
                network, known, table[rows], codes[rows], labels[rows], choose=choose, is_last=end == len(codes)
            )
            if mapping.predicted is not None:
                predicted.append((rows, mapping.predicted))
        self._network, self._class_table, self._mapping = network, after, mapping
        learnt = LearnResult.joined(results)
        measured = meter.measured(network, learnt, params)
        self._calibration = calibration_after(calibration, [measured])
        learnt = learnt.of(shown.first)
        if not is_member:
            self._watch_for_drift(table, Learnt.of(learnt, params.vigilance, codes, predicted), after.seen)
        return learnt, measured

    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, *, groups: Any = None, sample_weight: Any = None
    ) -> Self:
        """Go on learning: labelled and unlabelled samples in the given order, one or many.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Raw features; NaN where a value is missing.
        y : array-like of shape (n_samples,), default=None
            Classes; -1, None or NaN where unlabelled. None: all unlabelled. New classes may appear at any time.
        classes : array-like, default=None
            Classes to expect, so that `predict_proba` has a column for each from the start.
        groups, sample_weight : array-like of shape (n_samples,), default=None
            As in `fit`. A group may come in several calls.
        """
        with draft_of(self) as (draft, changes):
            table, labels, declared = draft._read_stream(X, y, classes, groups, sample_weight)
            draft._check_weights(labels)
            draft._partial_fit_table(table, labels, declared, changes)
        return self

    @reads
    def apply(self, X: Any) -> IntArray:
        """Return the node that each sample is predicted by.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
            Index of the node, -1 where the model abstains.
        """
        table = self._read(X)
        check_has_label(self._class_table)
        member = self._view().members[0].as_learnt()
        return member.first_labelled(member.encode(table), self._search_depth())

    @property
    @reads
    def counts_(self) -> CountArray:
        """How often each class resonated with each node, shape (n_nodes, n_classes), in the order of `classes_`.

        Fractions where they fade.
        """
        check_is_fitted(self)
        return self._class_table.by_class(self._network.nodes.counts[: self.n_nodes_])

    @property
    @reads_attribute
    def node_labels_(self) -> NDArray[Any]:
        """Class of each node, shape (n_nodes,); -1 for integer classes and None for others where it has none."""
        check_is_fitted(self)
        labelled = self._labelled_nodes()
        if not labelled.any():
            as_integers = self.classes_.dtype.kind in "if" and not self._class_table.has_minus_one()
            return np.full(self.n_nodes_, UNLABELLED if as_integers else None)
        view = self._view()
        return view.labels_of(view.members[0].as_learnt().labels, may_abstain=not labelled.all())

    def _labelled_nodes(self) -> BoolArray:
        return np.asarray(self._network.nodes.labels[: self.n_nodes_] != UNLABELLED)

    @property
    @reads
    def n_labelled_nodes_(self) -> int:
        """Number of nodes that have a label."""
        check_is_fitted(self)
        return int(self._labelled_nodes().sum())

    @property
    @reads
    def n_nodes_stage1_(self) -> int:
        """Number of nodes made by unlabelled samples: those of stage 1; with `half_life`, also those dropped since."""
        check_is_fitted(self)
        return self._network.nodes.n_nodes_stage1

    def _add_columns(self, is_category: Sequence[bool]) -> None:
        super()._add_columns(is_category)
        self._mapping = self._mapping.with_columns(self._network, len(is_category))

    def __sslart_check__(self) -> None:
        super().__sslart_check__()
        self._check_prediction_params()

    def __sslart_part__(self, table: Table, labels: Labels, shared: Shared, number: int) -> ModelParts:
        self._check_weights(labels)
        order = self._order(labels, random_of_part(self.random_state, number))
        self._fit_table(table, labels, order, shared=shared)
        return self.__sslart_parts__()

    def __sslart_parts__(self) -> ModelParts:
        own = MemberParts(self._network, self._class_table, self._mapping_to_update(), self._calibration)
        return ModelParts(known_columns(self), (own,), self._class_table, self._calibration)

    def __sslart_take__(self, parts: ModelParts) -> None:
        super().__sslart_take__(parts)
        self._class_table, self._mapping = parts.class_table, parts.members[0].mapping

    def __sslart_state__(self, *, samples: bool = True, promises: bool = False) -> dict[str, Any]:
        return {**super().__sslart_state__(samples=samples, promises=promises), **self._class_table.to_state()}

    def __sslart_restore__(self, state: dict[str, Any]) -> None:
        super().__sslart_restore__(state)
        self._class_table = ClassTable.from_state(state)
        counts = self._network.nodes.counts
        may_have_faded = self._network.nodes.n_learnt is not None
        if len(self._class_table.seen) != counts.shape[1] or not (may_have_faded or counts.any(axis=0).all()):
            raise ValueError("the classes of the model do not fit its counts")
