"""sslart: semi-supervised Adaptive Resonance Theory. Many samples, few labels, and a reason for every prediction."""

from typing import TYPE_CHECKING

from sslart._art.show_versions import show_versions
from sslart._utils.optional import lazy_names
from sslart.estimators._auto import AutoSSLART
from sslart.estimators._fuzzy_art import FuzzyART
from sslart.estimators._fuzzy_artmap import FuzzyARTMAP
from sslart.estimators._sslart import SSLART
from sslart.estimators._wesslart import WESSLART
from sslart.persistence import load, save

if TYPE_CHECKING:
    from sslart.export.onnx._convert import to_onnx
    from sslart.reporting import report

__version__ = "0.1.0"

__all__ = [
    "SSLART",
    "WESSLART",
    "AutoSSLART",
    "FuzzyART",
    "FuzzyARTMAP",
    "__version__",
    "load",
    "report",
    "save",
    "show_versions",
    "to_onnx",
]


# imported when first used, so that importing sslart stays quick
_LATER = {"report": "sslart.reporting", "to_onnx": "sslart.export.onnx._convert"}
__getattr__ = lazy_names(__name__, _LATER)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
