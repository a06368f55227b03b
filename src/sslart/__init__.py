"""sslart: semi-supervised Adaptive Resonance Theory, for many samples, few labels, and a reason for every answer."""

from typing import TYPE_CHECKING, Any

from sslart._auto import AutoSSLART
from sslart._fuzzy_art import FuzzyART
from sslart._fuzzy_artmap import FuzzyARTMAP
from sslart._sslart import SSLART
from sslart._versions import show_versions
from sslart._wesslart import WESSLART
from sslart.persist import load, save

if TYPE_CHECKING:
    from sslart._to_onnx import to_onnx
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
        from sslart._to_onnx import to_onnx

        return to_onnx
    raise AttributeError(f"module 'sslart' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), "report", "to_onnx"})
