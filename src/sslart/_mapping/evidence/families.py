"""The families of evidence, in the order in which they are tried."""

from __future__ import annotations

from sslart._mapping.evidence.bases.base import Family
from sslart._mapping.evidence.bases.boxes import BoxFamily, RelevantFamily, SubspaceFamily
from sslart._mapping.evidence.bases.graph import CarriedFamily, SpreadFamily
from sslart._mapping.evidence.bases.linear import LinearFamily
from sslart._mapping.evidence.bases.splines import SplineFamily
from sslart._mapping.evidence.bases.trees import TreeFamily
from sslart._mapping.evidence.settings import BasisSpec

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


def family_of(spec: BasisSpec) -> Family:
    """Return the family of a basis; a KeyError where there is none."""
    return _BY_KIND[spec.kind]
