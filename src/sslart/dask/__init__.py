"""Estimators for dask DataFrames and Arrays, for tables larger than the memory of one machine.

Needs dask, installed by the extra `dask`.
"""

from sslart.dask._estimators import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP

__all__ = ["SSLART", "WESSLART", "AutoSSLART", "FuzzyART", "FuzzyARTMAP"]
