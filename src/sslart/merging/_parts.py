"""The parts of several models, joined into those of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any

import numpy as np

from sslart._data.columns import ATTRIBUTE
from sslart._data.joining import joined_encoder, joined_plan
from sslart._data.labels import ClassTable
from sslart._mapping.base import Mapping
from sslart._mapping.ensemble_votes import VotingRecord
from sslart._mapping.evidence.mapping import EvidenceMapping
from sslart._utils.arrays import IntArray
from sslart.estimators._fitted import FittedMember, FittedModel, with_plan
from sslart.merging._networks import Apart, Limits, Source, joined_networks
from sslart.merging._novelty import Fitted, Together, joined_calibration


def joined_parts(
    models: Sequence[FittedModel], vigilance: float, max_nodes: int | None, choice: float, learning_rate: float
) -> FittedModel:
    """Merge the state of several models; the result does not depend on their order.

    Evidence has the labels of all, and settings that are not chosen yet: see `finished`.

    Parameters
    ----------
    models : sequence of FittedModel
        At least one, with the same number of members and of columns.
    vigilance : float
        Boxes are joined whose union obeys it.
    max_nodes : int or None
        How many boxes each network may have.
    choice, learning_rate : float
        α and β.
    """
    for one in models:
        if one.calibration is not None:
            one.calibration.check_learns()
    plan = joined_plan([one.plan for one in models], models[0].column_names())
    class_table = ClassTable.joined([one.class_table for one in models])
    models = sorted(models, key=lambda one: _digest(one.state()))
    joined, sources, aparts = [], [], []
    for members in zip(*(one.members for one in models), strict=True):
        limits = Limits(vigilance, max_nodes, members[0].mapping.one_to_one)
        member, own, apart = _joined_member(members, models[0].column_names(), class_table, limits, choice)
        joined.append(member)
        sources.append(own)
        aparts.append(apart)
    columns = with_plan({name: value for name, value in models[0].columns.items() if name != ATTRIBUTE}, plan)
    fitted = [
        Fitted(one.calibration, [own[place] for own in sources], place, one.measured)
        for place, one in enumerate(models)
        if one.calibration is not None
    ]
    together = Together([member.network for member in joined], aparts, choice, learning_rate)
    calibration, measured = joined_calibration(fitted, together)
    record = _joined_record(models, class_table)
    return FittedModel(columns, tuple(joined), class_table, calibration, record, measured=measured)


def finished(parts: FittedModel) -> FittedModel:
    """Return the parts of a model with settings of evidence that are chosen anew, by the labels that it has."""
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
    limits: Limits,
    choice: float,
) -> tuple[FittedMember, list[Source], Apart]:
    networks = [one.network for one in members]
    n_samples = [float(one.nodes.support.sum()) for one in networks]
    encoder = joined_encoder([one.encoder for one in networks], n_samples, names)
    codes = [one.class_table.codes_in(class_table) for one in members]
    network, sources, apart = joined_networks(networks, codes, len(class_table.seen), encoder, limits)
    fitted = [
        Fitted(one.calibration, [source])
        for one, source in zip(members, sources, strict=True)
        if one.calibration is not None
    ]
    calibration, _ = joined_calibration(fitted, Together([network], [apart], choice, 1.0))
    mapping = _joined_mapping([one.mapping for one in members], codes)
    if isinstance(mapping, EvidenceMapping):
        mapping = replace(mapping.of_columns(encoder.categorical), class_table=class_table)
    seeds = [one.seed for one in members if one.seed is not None]
    member = FittedMember(network, class_table, mapping, members[0].params, calibration, min(seeds, default=None))
    return member, sources, apart


def _joined_mapping(mappings: Sequence[Mapping], codes: Sequence[IntArray]) -> Mapping:
    """Return the mapping with the labels of all, where they keep labels."""
    first = mappings[0]
    if not isinstance(first, EvidenceMapping):
        return first
    evidence = [one for one in mappings if isinstance(one, EvidenceMapping)]
    settings = first.settings._replace(seed=min(one.settings.seed for one in evidence))
    return EvidenceMapping.joined(settings, evidence, codes)


def _joined_record(models: Sequence[FittedModel], class_table: ClassTable) -> VotingRecord | None:
    """Return the voting record of the members of an ensemble over all models."""
    joined = None
    for one in models:
        if one.record is not None:
            record = one.record.recoded(one.class_table.codes_in(class_table), len(class_table.seen))
            joined = record if joined is None else joined + record
    return joined


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
