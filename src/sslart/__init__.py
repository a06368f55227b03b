"""sslart: semi-supervised Adaptive Resonance Theory, for many samples, few labels, and a reason for every answer."""

from sslart._fuzzy_art import FuzzyART
from sslart._fuzzy_artmap import FuzzyARTMAP
from sslart._sslart import SSLART
from sslart._versions import show_versions
from sslart._wesslart import WESSLART
from sslart.persist import load, save

__version__ = "0.1.0"

__all__ = ["SSLART", "WESSLART", "FuzzyART", "FuzzyARTMAP", "__version__", "load", "save", "show_versions"]
