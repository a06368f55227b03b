"""Merge several fitted models into one, and a fitted model with a further table."""

from __future__ import annotations

import copy
import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce
from hashlib import blake2b
from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone

from sslart._art.boxes import LEAST_SUPPORT, Fits
from sslart._art.network import Network
from sslart._art.novelty import Measured, NoveltyCalibration
from sslart._data.columns import ATTRIBUTE
from sslart._data.joining import joined_encoder, joined_plan
from sslart._data.labels import ClassTable
from sslart._mapping.audit import Audit
from sslart._mapping.ensemble_votes import VotingRecord
from sslart._mapping.evidence.mapping import EvidenceMapping
from sslart._utils.arrays import IntArray
from sslart._utils.text import printable
from sslart._utils.validation import AUTO, check_half_life, check_number
from sslart.estimators import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP
from sslart.estimators._fitted import FittedMember, FittedModel, with_plan
from sslart.merging._networks import BoxesApart, JoinLimits, MergedSource, joined_networks
from sslart.merging._novelty import Merged, ModelFits, joined_calibration

ESTIMATORS = (FuzzyART, FuzzyARTMAP, SSLART, AutoSSLART, WESSLART)
MAY_DIFFER = ("n_jobs", "random_state")

Model = TypeVar("Model", bound=FuzzyART | FuzzyARTMAP | SSLART | AutoSSLART | WESSLART)


def merge(models: Iterable[Model], vigilance: float | None = None) -> Model:
    """Merge several fitted models into one, such as those of parts of a table or of several sites.

    Ranges, categories and classes are the unions over the models. Two boxes are joined if their bounding box satisfies
    the vigilance; supports, counts and stored labels are added. With evidence mapping, settings are selected anew with
    all labels. Every sample inside a box of a model is inside a box of the result. The models are not changed.

    Parameters
    ----------
    models : iterable of FuzzyART, FuzzyARTMAP, SSLART, AutoSSLART or WESSLART
        All of one class, with equal parameters (`n_jobs` and `random_state` may differ), and for the same features. A
        model that has not been fitted is ignored. The result does not depend on the order of the models, bit for bit.
    vigilance : float, default=None
        From 0 to 1: boxes are joined if their bounding box satisfies it. Lower values make fewer and larger boxes, also
        for a single model. None: the lowest vigilance of the models.

    Returns
    -------
    model
        Of the same class, with the same parameters; `n_jobs` and `random_state` are None if the models differ. For a
        single fitted model, the result is a copy, unless a vigilance is given.

    Raises
    ------
    ValueError
        If parameters or features differ, a column is numeric in one model and categorical in another, or is read as
        dates or left out by some of the models only.

    Notes
    -----
    A merged model differs from that of a single pass over all samples, since boxes depend on the order of samples.
    `max_nodes` holds for the result. With ``scaling="rank"`` the scales of the models are joined; a box may be larger
    on the joined scale than the vigilance allows, and then does not grow any more. Ensembles are merged member by
    member, and their counts of correct predictions are added.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import sslart
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> y[[i for i in range(len(y)) if i % 20]] = -1  # keep one label in twenty
    >>> north = sslart.AutoSSLART(random_state=0).fit(X[:285], y[:285])
    >>> south = sslart.AutoSSLART(random_state=0).fit(X[285:], y[285:])
    >>> both = sslart.merge([north, south])
    >>> int(both.support_.sum()), both.n_nodes_ <= north.n_nodes_ + south.n_nodes_
    (569, True)
    """
    given = check_models(models)
    bound = None if vigilance is None else check_number("sslart.merge", "vigilance", vigilance, 0, 1)
    places = [place for place, model in enumerate(given) if model.__sklearn_is_fitted__()]
    if not places:
        return new_model(given)
    fitted = [given[place] for place in places]
    if len(fitted) == 1 and bound is None:
        return copy.deepcopy(fitted[0])
    parts = [model.__sslart_parts__() for model in fitted]
    check_columns(parts, places)
    model = new_model(fitted)
    if bound is None:
        bound = lowest_vigilance(model, parts)
    model.__sslart_take__(finished(joined_parts(parts, bound, model.max_nodes, model.choice, model.learning_rate)))
    return model


def check_models(models: Iterable[Model]) -> list[Model]:
    """Validate models and return them as a list."""
    if isinstance(models, ESTIMATORS):
        raise TypeError(f"sslart.merge takes a sequence of models, got one {type(models).__name__}: pass [model].")
    found = list(models)
    if not found:
        raise ValueError("sslart.merge needs at least one model, got none.")
    names = ", ".join(cls.__name__ for cls in ESTIMATORS)
    first = found[0]
    for place, model in enumerate(found):
        if type(model) not in ESTIMATORS:
            cure = " of sslart.dask: pass what its to_local() returns" if hasattr(model, "to_local") else ""
            raise TypeError(f"sslart.merge takes {names}; models[{place}] is a {type(model).__name__}{cure}.")
        if type(model) is not type(first):
            raise TypeError(
                f"sslart.merge takes models of one class: models[0] is a {type(first).__name__}, models[{place}] a "
                f"{type(model).__name__}."
            )
        for name, other in model.get_params(deep=False).items():
            one = getattr(first, name)
            if name not in MAY_DIFFER and not _same(one, other):
                raise ValueError(
                    f"Models to merge must have equal parameters: {name} is {_short(one)} in models[0] and "
                    f"{_short(other)} in models[{place}]. Fit them with the same value."
                )
    return found


def _short(value: Any) -> str:
    text = printable(repr(value))
    return text if len(text) <= 60 else f"{text[:57]}..."


def _same(one: Any, other: Any) -> bool:
    """Return True if two values of a parameter are equal; arrays, sequences, and dicts are compared by content."""
    if isinstance(one, dict) or isinstance(other, dict):
        are_dicts = isinstance(one, dict) and isinstance(other, dict)
        return are_dicts and one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    sequences = (list, tuple, np.ndarray)
    if isinstance(one, sequences) or isinstance(other, sequences):
        are_sequences = isinstance(one, sequences) and isinstance(other, sequences)
        return are_sequences and len(one) == len(other) and all(map(_same, one, other))
    is_nan = one != one and other != other
    return bool(one is other or one == other or is_nan)


def check_columns(parts: Sequence[FittedModel], places: Sequence[int]) -> None:
    """Raise a ValueError if models have learnt different columns; `places`: indices among the given models."""
    first, start = parts[0], places[0]
    for one, place in zip(parts, places, strict=True):
        if one.n_features != first.n_features:
            raise ValueError(
                f"models[{start}] has learnt {first.n_features} features and models[{place}] {one.n_features}: models "
                "to merge must have learnt the same features."
            )
        if (one.names is None) != (first.names is None):
            with_names, without = (start, place) if one.names is None else (place, start)
            raise ValueError(
                f"models[{with_names}] has learnt samples with feature names and models[{without}] samples without: "
                "give the features the same names in all data, or none."
            )
        if one.names != first.names:
            differ = next((a, b) for a, b in zip(first.names or [], one.names or [], strict=True) if a != b)
            raise ValueError(
                f"Feature names differ: {printable(differ[0])!r} in models[{start}] is {printable(differ[1])!r} in "
                f"models[{place}]. Models to merge must have learnt the same features in the same order."
            )
        if len(one.members) != len(first.members):
            raise ValueError(
                f"models[{start}] has {len(first.members)} members and models[{place}] {len(one.members)}: models to "
                "merge must have as many."
            )


def lowest_vigilance(model: Any, parts: Sequence[FittedModel]) -> float:
    """Return the lowest vigilance of a model and of the networks of some parts."""
    reached = [member.network.nodes.vigilance for one in parts for member in one.members]
    return min(float(model.vigilance), *reached)


def new_model(models: Sequence[Model]) -> Model:
    """Return an unfitted model with the common parameters of models, and None where they differ."""
    model: Model = clone(models[0])
    for name in MAY_DIFFER:
        values = [getattr(one, name) for one in models]
        if not all(_same(value, values[0]) for value in values):
            setattr(model, name, None)
    return model


def check_can_fade(model: Any) -> None:
    """Raise a ValueError if a model does not support decay by a further table."""
    if check_half_life(type(model).__name__, model.half_life, allow_auto=True) == AUTO:
        raise ValueError(
            "half_life='auto' is chosen by the labels of a stream, sample by sample, but a collection of dask is "
            "learnt in partitions: give a number of samples, or None, or learn with to_local().partial_fit."
        )


def with_further(model: Any, parts: FittedModel) -> Any:
    """Return a model updated with a further table, given the merged state `parts` of its partitions.

    The boxes of the model and of the table are joined, and then learn the labelled samples of the table that are not
    learnt yet. With a `half_life`, the earlier state decays by the number of samples of the table, which all have the
    same weight.
    """
    check_can_fade(model)
    before = model.__sslart_parts__()
    check_columns([before, replace(parts, members=parts.members or before.members)], [0, 1])
    further = new_model([model])
    if model.half_life is not None:
        factor = math.exp2(-parts.n_samples / model.half_life)
        before = faded(before, factor, parts.n_samples, keep_one=not parts.members)
    joined = before
    if parts.members:
        vigilance = lowest_vigilance(model, [before, parts])
        joined = joined_parts([before, parts], vigilance, model.max_nodes, model.choice, model.learning_rate)
    further.__sslart_take__(finished(joined))
    if parts.labelled is not None:
        further.__sslart_learn_later__(parts.columns, parts.labelled)
    return further


def faded(parts: FittedModel, factor: float, n_samples: int, *, keep_one: bool) -> FittedModel:
    """Return a model decayed by further samples that it has not learnt yet.

    Supports and counts are multiplied by `factor`, and boxes with too little support dropped. Stored labels age by
    `n_samples`. `keep_one`: always keep the largest box of each member.
    """
    members, dropped = [], []
    is_gone = not keep_one and all(_largest(one) * factor < LEAST_SUPPORT for one in parts.members)
    for one in parts.members:
        least = 0.0 if is_gone else LEAST_SUPPORT / _largest(one)
        member, into = _faded_member(one, max(factor, least), n_samples)
        members.append(member)
        dropped.append(into)
    record = parts.record
    if record is not None:
        record = VotingRecord(record.successes * factor, record.trials * factor)
    calibration = None if is_gone else _renamed(parts.calibration, dropped)
    return replace(parts, members=tuple(members), calibration=calibration, record=record)


def _largest(member: FittedMember) -> float:
    return float(member.network.nodes.support.max())


def _faded_member(member: FittedMember, factor: float, n_samples: int) -> tuple[FittedMember, IntArray | None]:
    draft, mapping = member.network.nodes.draft(), member.mapping
    draft.start_to_fade()
    into = draft.fade(factor)
    network = Network(member.network.encoder, draft.published())
    if isinstance(mapping, EvidenceMapping):
        mapping = replace(mapping, recent=replace(mapping.recent, n_samples=mapping.recent.n_samples + n_samples))
    calibration = _renamed(member.calibration, [into]) if network.nodes.n_nodes else None
    return replace(member, network=network, mapping=mapping, calibration=calibration), into


def _renamed(calibration: NoveltyCalibration | None, into: list[IntArray | None]) -> NoveltyCalibration | None:
    """Return the calibration with box indices updated after boxes of the members have been dropped."""
    if calibration is None:
        return None
    no_keys = np.empty(0, dtype=np.uint64)
    return calibration.adding([Measured(no_keys, Fits.none(0), one) for one in into])


def joined_parts(
    models: Sequence[FittedModel], vigilance: float, max_nodes: int | None, choice: float, learning_rate: float
) -> FittedModel:
    """Merge the state of models with as many members and columns; the result does not depend on their order.

    Boxes are joined whose union obeys `vigilance`, down to `max_nodes` of each network. Evidence has the labels of all,
    and settings that are not chosen yet: see `finished`.
    """
    for one in models:
        if one.calibration is not None:
            one.calibration.check_learns()
    plan = joined_plan([one.plan for one in models], models[0].column_names())
    class_table = ClassTable.joined([one.class_table for one in models])
    models = sorted(models, key=lambda one: _digest(one.state()))
    joined, sources, aparts = [], [], []
    for members in zip(*(one.members for one in models), strict=True):
        limits = JoinLimits(vigilance, max_nodes, members[0].mapping.one_to_one)
        member, own, apart = _joined_member(members, models[0].column_names(), class_table, limits, choice)
        joined.append(member)
        sources.append(own)
        aparts.append(apart)
    columns = with_plan({name: value for name, value in models[0].columns.items() if name != ATTRIBUTE}, plan)
    fitted = [
        ModelFits(one.calibration, [own[place] for own in sources], place, one.measured)
        for place, one in enumerate(models)
        if one.calibration is not None
    ]
    together = Merged([member.network for member in joined], aparts, choice, learning_rate)
    calibration, measured = joined_calibration(fitted, together)
    n_classes = len(class_table.seen)
    records = [
        one.record.recoded(one.class_table.codes_in(class_table), n_classes) for one in models if one.record is not None
    ]
    record = reduce(operator.add, records) if records else None
    audit = _joined_audit(models)
    return FittedModel(columns, tuple(joined), class_table, calibration, record, audit=audit, measured=measured)


def _joined_audit(models: Sequence[FittedModel]) -> Audit | None:
    """Return the audits of all models, without samples that one of the models has learnt with a label."""
    audits = [one.audit for one in models if one.audit is not None]
    audit = reduce(Audit.joined, audits) if audits else None
    for member in (member for one in models for member in one.members if one.class_table.seen):
        if audit is None:
            break
        kept = member.mapping.kept_samples
        audit = audit if kept is None else audit.without(kept)
    return audit


def finished(parts: FittedModel) -> FittedModel:
    """Return the state of a model after selecting settings of evidence mapping with its labels."""
    members = []
    for one in parts.members:
        mapping = one.mapping
        if isinstance(mapping, EvidenceMapping):
            mapping = mapping.anew(one.network, one.class_table)
        members.append(replace(one, mapping=mapping))
    return replace(parts, members=tuple(members), measured=None)


def _joined_member(
    members: Sequence[FittedMember],
    names: Sequence[str],
    class_table: ClassTable,
    limits: JoinLimits,
    choice: float,
) -> tuple[FittedMember, list[MergedSource], BoxesApart]:
    networks = [one.network for one in members]
    n_samples = [float(one.nodes.support.sum()) for one in networks]
    encoder = joined_encoder([one.encoder for one in networks], n_samples, names)
    codes = [one.class_table.codes_in(class_table) for one in members]
    network, sources, apart = joined_networks(networks, codes, len(class_table.seen), encoder, limits)
    fitted = [
        ModelFits(one.calibration, [source])
        for one, source in zip(members, sources, strict=True)
        if one.calibration is not None
    ]
    calibration, _ = joined_calibration(fitted, Merged([network], [apart], choice, 1.0))
    mapping = members[0].mapping
    if isinstance(mapping, EvidenceMapping):
        every = [one.mapping for one in members if isinstance(one.mapping, EvidenceMapping)]
        settings = mapping.settings._replace(seed=min(one.settings.seed for one in every))
        mapping = EvidenceMapping.joined(settings, every, codes).of_columns(encoder.categorical)
        mapping = replace(mapping, class_table=class_table)
    seeds = [one.seed for one in members if one.seed is not None]
    member = FittedMember(network, class_table, mapping, members[0].params, calibration, min(seeds, default=None))
    return member, sources, apart


def _digest(state: Any) -> bytes:
    """Return a digest of plain values and arrays, used to sort models into a canonical order."""
    digest = blake2b(digest_size=16)
    pending = [state]
    while pending:
        value = pending.pop()
        if isinstance(value, np.ndarray):
            digest.update(f"{value.dtype.str}{value.shape}".encode())
            digest.update(value.tobytes())
        elif isinstance(value, dict):
            digest.update(repr(list(value)).encode())
            pending.extend(value.values())
        elif isinstance(value, list | tuple):
            digest.update(f"{len(value)}[".encode())
            pending.extend(value)
        else:
            digest.update(repr(value).encode())
    return digest.digest()
