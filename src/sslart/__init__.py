"""sslart: semi-supervised Adaptive Resonance Theory, for many samples, few labels, and a reason for every answer."""

from typing import TYPE_CHECKING, Any

from sslart._art.versions import show_versions
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


def __getattr__(name: str) -> Any:
    if name == "report":  # with all it needs, when first asked for: importing sslart stays quick
        from sslart.reporting import report

        return report
    if name == "to_onnx":
        from sslart.export.onnx._convert import to_onnx

        return to_onnx
    raise AttributeError(f"module 'sslart' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), "report", "to_onnx"})
