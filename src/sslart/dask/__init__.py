"""The estimators of sslart over dask DataFrames and Arrays, for tables that one machine does not hold.

Needs dask, which the extra `dask` brings.
"""

from sslart.dask._estimators import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP

__all__ = ["SSLART", "WESSLART", "AutoSSLART", "FuzzyART", "FuzzyARTMAP"]
