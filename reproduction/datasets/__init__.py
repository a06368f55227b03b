"""The data sets of the paper: from the user's files, from the cache, or from their public origin, and checked.

Every loader gives a Bunch as those of scikit-learn do; `as_frame=True` gives pandas objects, `return_X_y=True` gives
(data, target) alone.
"""

from reproduction.datasets.files import DataNotFoundError
from reproduction.datasets.loaders.anomaly import load_tep, load_unsw_nb15, load_wadi
from reproduction.datasets.loaders.images import load_mnist, load_norb_small, load_optdigits, load_usps
from reproduction.datasets.loaders.motion import load_human_motion, window_statistics
from reproduction.datasets.loaders.shipped import load_iris, load_wdbc, load_wine
from reproduction.datasets.loaders.tables import (
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
from reproduction.datasets.registry import fetch, list_datasets, where

__all__ = [
    "DataNotFoundError",
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
    "where",
    "window_statistics",
]
