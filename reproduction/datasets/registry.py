"""Registry of all data sets: names, locations and loaders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from reproduction.datasets.catalogue import SOURCES, source_of
from reproduction.datasets.files import Place, find, obtain
from reproduction.datasets.loaders import (
    anomaly as _anomaly,
)
from reproduction.datasets.loaders import (
    images as _images,
)
from reproduction.datasets.loaders import (
    motion as _motion,
)
from reproduction.datasets.loaders import (
    shipped as _shipped,
)
from reproduction.datasets.loaders import (
    tables as _tables,
)

_MODULES = (_tables, _shipped, _images, _anomaly, _motion)


def loader_of(name: str) -> Callable[..., Any]:
    """Return the function that loads a data set."""
    function = f"load_{source_of(name).name}"
    loader: Callable[..., Any] = next(getattr(module, function) for module in _MODULES if hasattr(module, function))
    return loader


def list_datasets() -> list[str]:
    """Return the names of all data sets, whether they are on this machine or not.

    Examples
    --------
    >>> from reproduction.datasets import list_datasets
    >>> list_datasets()[:3]
    ['australian', 'bupa', 'german']
    """
    return list(SOURCES)


def where(name: str) -> Place:
    """Return where a data set is on this machine; nothing is downloaded.

    Parameters
    ----------
    name : str
        One of `list_datasets`.

    Returns
    -------
    (paths, found_in)
        The files, and in what they were found: "SSLART_DATA" (the folder of that environment variable) or "cache".
        (None, "scikit-learn") for what scikit-learn ships, (None, None) for what is not here.

    Examples
    --------
    >>> from reproduction.datasets import where
    >>> where("iris")
    Place(paths=None, found_in='scikit-learn')
    """
    return find(source_of(name))


def fetch(name: str) -> tuple[Path, ...]:
    """Download a data set unless it is here, check its content, and return its files.

    Parameters
    ----------
    name : str
        As in `where`.

    Returns
    -------
    tuple of Path
        Empty for what scikit-learn ships.

    Raises
    ------
    DataNotFoundError
        It is not available; the message gives the remedies.
    ValueError
        A file is damaged, or another version.

    Examples
    --------
    >>> from reproduction.datasets import fetch
    >>> fetch("wine")
    ()
    """
    place = obtain(source_of(name))
    loader_of(name)()
    return place.files
