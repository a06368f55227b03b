"""sslart: semi-supervised Adaptive Resonance Theory. Many samples, few labels, and a reason for every prediction."""

from typing import TYPE_CHECKING

from sslart._utils.optional import lazy_names

if TYPE_CHECKING:
    from sslart import active as active
    from sslart import client as client
    from sslart import dask as dask
    from sslart import datasets as datasets
    from sslart import explain as explain
    from sslart import merging as merging
    from sslart import metrics as metrics
    from sslart import model_selection as model_selection
    from sslart import plotting as plotting
    from sslart import river as river
    from sslart import rules as rules
    from sslart import server as server
    from sslart._art.backend import show_versions
    from sslart._drift.features import FeatureShift
    from sslart._drift.monitor import DriftEvent
    from sslart.estimators._fuzzy_art import FuzzyART, FuzzyARTMAP
    from sslart.estimators._sslart import SSLART, AutoSSLART
    from sslart.estimators._wesslart import WESSLART
    from sslart.export.onnx import to_onnx
    from sslart.merging import merge
    from sslart.persistence import load, save
    from sslart.reporting import report

__version__ = "0.1.0"

__all__ = [
    "SSLART",
    "WESSLART",
    "AutoSSLART",
    "DriftEvent",
    "FeatureShift",
    "FuzzyART",
    "FuzzyARTMAP",
    "__version__",
    "load",
    "merge",
    "report",
    "save",
    "show_versions",
    "to_onnx",
]


# imported on first use, so that importing sslart, and commands such as `sslart --help`, stay quick
_LATER = {
    "AutoSSLART": "sslart.estimators._sslart",
    "DriftEvent": "sslart._drift.monitor",
    "FeatureShift": "sslart._drift.monitor",
    "FuzzyART": "sslart.estimators._fuzzy_art",
    "FuzzyARTMAP": "sslart.estimators._fuzzy_art",
    "SSLART": "sslart.estimators._sslart",
    "WESSLART": "sslart.estimators._wesslart",
    "load": "sslart.persistence",
    "merge": "sslart.merging",
    "report": "sslart.reporting",
    "save": "sslart.persistence",
    "show_versions": "sslart._art.backend",
    "to_onnx": "sslart.export.onnx",
}
_PACKAGES = (
    "active",
    "client",
    "dask",
    "datasets",
    "explain",
    "merging",
    "metrics",
    "model_selection",
    "plotting",
    "river",
    "rules",
    "server",
)
if not TYPE_CHECKING:  # with it a type checker would accept any name
    __getattr__ = lazy_names(__name__, _LATER, _PACKAGES)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER, *_PACKAGES})
