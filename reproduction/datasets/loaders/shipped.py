"""Tables that are part of scikit-learn, with class names as targets."""

from __future__ import annotations

from typing import Any

from reproduction.datasets.bunch import to_bunch
from reproduction.datasets.catalogue import source_of
from reproduction.datasets.content import check_content, check_counts
from reproduction.datasets.files import SHIPPED
from sslart._utils.optional import heavy


def _load(name: str, loader: str, as_frame: bool, return_X_y: bool) -> Any:
    original = getattr(heavy("sklearn.datasets"), loader)()
    source = source_of(name)
    target = original.target_names[original.target].astype(str)
    check_counts(source, original.data, target, SHIPPED)
    check_content(source, original.data, target, SHIPPED)
    names = [str(feature) for feature in original.feature_names]
    return to_bunch(source, original.data, target, names, SHIPPED, as_frame=as_frame, return_X_y=return_X_y)


def load_wdbc(*, as_frame: bool = False, return_X_y: bool = False) -> Any:
    """Load the diagnostic breast cancer data of Wisconsin: 569 tumours, 30 features, malignant or benign.

    Examples
    --------
    >>> from reproduction.datasets import load_wdbc
    >>> wdbc = load_wdbc()
    >>> wdbc.data.shape, str(wdbc.target[0])
    ((569, 30), 'malignant')
    """
    return _load("wdbc", "load_breast_cancer", as_frame, return_X_y)


def load_wine(*, as_frame: bool = False, return_X_y: bool = False) -> Any:
    """Load the wine data: 178 wines, 13 features, 3 cultivars.

    Examples
    --------
    >>> from reproduction.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> X.shape, sorted(set(y.tolist()))
    ((178, 13), ['class_0', 'class_1', 'class_2'])
    """
    return _load("wine", "load_wine", as_frame, return_X_y)


def load_iris(*, as_frame: bool = False, return_X_y: bool = False) -> Any:
    """Load the iris data as Fisher printed it: 150 flowers, 4 measurements, 3 species.

    UCI's copy differs from it in two samples.

    Examples
    --------
    >>> from reproduction.datasets import load_iris
    >>> iris = load_iris()
    >>> iris.data[34].tolist()  # 0.2 in the last place; UCI has 0.1
    [4.9, 3.1, 1.5, 0.2]
    """
    return _load("iris", "load_iris", as_frame, return_X_y)
