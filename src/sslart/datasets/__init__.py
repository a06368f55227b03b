"""Data sets to try sslart on: from the user's files, from the cache, or from their public origin, and checked."""

from sslart.datasets._files import DataNotFoundError
from sslart.datasets._loaders.anomaly import load_tep, load_unsw_nb15, load_wadi
from sslart.datasets._loaders.images import load_mnist, load_norb_small, load_optdigits, load_usps
from sslart.datasets._loaders.motion import load_human_motion, window_statistics
from sslart.datasets._loaders.shipped import load_iris, load_wdbc, load_wine
from sslart.datasets._loaders.tables import (
    load_australian,
    load_bupa,
    load_german,
    load_haberman,
    load_heart_cleveland,
    load_ionosphere,
    load_kr_vs_kp,
    load_mammographic,
    load_pima,
    load_seeds,
    load_zoo,
)
from sslart.datasets._noise import add_white_noise, switch_labels
from sslart.datasets._registry import fetch, list_datasets, where

__all__ = [
    "DataNotFoundError",
    "add_white_noise",
    "fetch",
    "list_datasets",
    "load_australian",
    "load_bupa",
    "load_german",
    "load_haberman",
    "load_heart_cleveland",
    "load_human_motion",
    "load_ionosphere",
    "load_iris",
    "load_kr_vs_kp",
    "load_mammographic",
    "load_mnist",
    "load_norb_small",
    "load_optdigits",
    "load_pima",
    "load_seeds",
    "load_tep",
    "load_unsw_nb15",
    "load_usps",
    "load_wadi",
    "load_wdbc",
    "load_wine",
    "load_zoo",
    "switch_labels",
    "where",
    "window_statistics",
]
