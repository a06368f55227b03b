"""Evidence mapping: boxes, features and the graph of boxes as basis functions of a ridge regression.

Its modules are imported when the first model uses evidence, so that importing sslart stays quick.
"""

from typing import TYPE_CHECKING, Any

from sslart._utils.optional import lazy_names

if TYPE_CHECKING:
    from sslart._mapping.evidence.families import FAMILY_NAMES
    from sslart._mapping.evidence.mapping import EvidenceMapping

__all__ = ["FAMILY_NAMES", "EvidenceMapping"]

_MODULES = {"FAMILY_NAMES": "sslart._mapping.evidence.families", "EvidenceMapping": "sslart._mapping.evidence.mapping"}
_imported = lazy_names(__name__, _MODULES)


def __getattr__(name: str) -> Any:
    globals()[name] = found = _imported(name)  # so that it is looked up once
    return found
