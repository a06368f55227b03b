"""The families of evidence, in the order in which they are tried."""

from __future__ import annotations

from typing import Any

import numpy as np

from sslart._mapping.evidence.bases.base import Family, Term, TermShape
from sslart._mapping.evidence.bases.boxes import BoxFamily, RelevantFamily, SubspaceFamily
from sslart._mapping.evidence.bases.graph import CarriedFamily, SpreadFamily
from sslart._mapping.evidence.bases.linear import LinearFamily
from sslart._mapping.evidence.bases.splines import SplineFamily
from sslart._mapping.evidence.bases.trees import TreeFamily
from sslart._mapping.evidence.settings import MAX_SETTING, MIN_SETTING, N_BLOCKS, BasisSpec, Mixture
from sslart._utils.validation import check_number, saved_array

FAMILIES: tuple[Family, ...] = (
    BoxFamily(),
    RelevantFamily(),
    SplineFamily(),
    LinearFamily(),
    SubspaceFamily(),
    SpreadFamily(),
    CarriedFamily(),
    TreeFamily(),
)
FAMILY_NAMES = tuple(dict.fromkeys(family.name for family in FAMILIES))
_BY_KIND = {family.kind: family for family in FAMILIES}
_TERMS = {family.term.kind: family.term for family in FAMILIES}


def family_of(spec: BasisSpec) -> Family:
    """Return the family of a basis; a KeyError where there is none."""
    return _BY_KIND[spec.kind]


def term_of(state: dict[str, Any], shape: TermShape) -> Term:
    """Return a term of a saved state, after checking that it can be one."""
    return _TERMS[state["kind"]].from_state(state, shape)


def mixture_of(state: dict[str, Any]) -> Mixture:
    """Return a mixture of a saved state, after checking that it can be one."""
    specs = tuple(BasisSpec(*spec) for spec in state["specs"])
    if not specs or any(not isinstance(spec.kind, str) or spec.kind not in _BY_KIND for spec in specs):
        raise ValueError("the model has a basis of an unknown kind")
    uses_ridge = all(_BY_KIND[spec.kind].uses_ridge for spec in specs)
    if not uses_ridge and len(specs) > 1:
        raise ValueError("the model mixes bases that cannot be mixed")
    without = tuple(saved_array(state, "without", np.float64, None, low=0, high=1).tolist())
    if len(without) not in (0, N_BLOCKS):
        raise ValueError("the model has weights for another number of blocks")
    check_number("a mixture", "weight", state["weight"], 0, 1)
    check_number("a mixture", "ridge", state["ridge"], MIN_SETTING if uses_ridge else 0, MAX_SETTING)
    for spec in specs:
        check_number("a basis", "rank_weight", spec.rank_weight, 0, 1)
        check_number("a basis", "bandwidth", spec.bandwidth, *_BY_KIND[spec.kind].bandwidth_range)
    return Mixture(specs, state["ridge"], state["weight"], without)
