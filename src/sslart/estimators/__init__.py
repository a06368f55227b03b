"""The estimators."""

from sslart.estimators._fuzzy_art import FuzzyART, FuzzyARTMAP
from sslart.estimators._sslart import SSLART, AutoSSLART
from sslart.estimators._wesslart import WESSLART

__all__ = ["SSLART", "WESSLART", "AutoSSLART", "FuzzyART", "FuzzyARTMAP"]
