"""Files of the data sets: in the user's folder, in the cache, or at their origin."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from reproduction.datasets.download import DownloadError, download
from reproduction.datasets.source import Source
from sslart._utils.optional import optional


class DataNotFoundError(OSError):
    """The files of a data set are neither here nor available for download; the message gives the remedies."""


class Place(NamedTuple):
    """The place where a data set was found.

    Attributes
    ----------
    paths : tuple of Path, or None
        Its files; None where there are none on this machine, or where scikit-learn ships them.
    found_in : {"scikit-learn", "SSLART_DATA", "cache", "path"}, or None
    """

    paths: tuple[Path, ...] | None
    found_in: str | None

    @property
    def files(self) -> tuple[Path, ...]:
        """Its files, none where scikit-learn ships them."""
        return self.paths or ()

    def __str__(self) -> str:
        if self.paths is None:
            return self.found_in or "not here"
        return ", ".join(map(str, self.paths))


NOWHERE = Place(None, None)
SHIPPED = Place(None, "scikit-learn")


def cache_folder() -> Path:
    """Return the folder that downloads go to: that of the environment variable SSLART_CACHE, or the user's cache."""
    chosen = os.environ.get("SSLART_CACHE")
    return Path(chosen).expanduser() if chosen else Path(optional("pooch", "reproduction").os_cache("sslart"))


def find(source: Source) -> Place:
    """Return where a data set is on this machine, without a download."""
    if source.shipped:
        return SHIPPED
    chosen = os.environ.get("SSLART_DATA")
    if chosen and (paths := _complete(source, Path(chosen).expanduser())):
        return Place(paths, "SSLART_DATA")
    try:
        cache = cache_folder()
    except ImportError:  # no pooch, so there was never a download
        return NOWHERE
    paths = _complete(source, cache)
    return Place(paths, "cache") if paths else NOWHERE


def _complete(source: Source, folder: Path) -> tuple[Path, ...] | None:
    for names in (source.files, tuple(wanted.path for wanted in source.downloads)):
        paths = tuple(folder / name for name in names)
        if paths and all(path.is_file() for path in paths):
            return paths
    return None


def obtain(source: Source) -> Place:
    """Return where a data set is on this machine, after a download if need be."""
    place = find(source)
    if place.found_in is not None:
        return place
    if not source.downloads:
        raise DataNotFoundError(f"Data set {source.name!r} is not here and cannot be downloaded: {source.ask}.")
    cache = cache_folder()
    for wanted in source.downloads:
        target = cache / wanted.path
        if target.is_file():
            continue
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            download(wanted.url, target, wanted.sha256)
        except DownloadError as error:
            raise DataNotFoundError(
                f"Data set {source.name!r} is not here, and {wanted.url} could not be fetched: {error}. Cures: set the "
                f"environment variable SSLART_DATA to a folder with {' and '.join(source.files)} in it; or put the "
                f"file at {target}; or {source.ask}."
            ) from error
    return Place(tuple(cache / wanted.path for wanted in source.downloads), "cache")
