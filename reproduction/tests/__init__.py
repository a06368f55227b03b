"""Tests of the data sets and experiments of the paper."""

import os

import pytest

DATA = os.environ.get("SSLART_DATA", "")
needs_data = pytest.mark.skipif(not DATA, reason="SSLART_DATA does not name a folder with the data sets of the paper")
