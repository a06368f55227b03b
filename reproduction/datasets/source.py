"""Metadata of a data set, known before it is read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Download:
    """A file at its public origin: its address, its place in the cache, and its SHA-256 where that is known."""

    url: str
    path: str
    sha256: str | None = None


@dataclass(frozen=True)
class Source:
    """A data set.

    Attributes
    ----------
    name, title : str
    n_samples, n_features : int
        As the loader returns it without options.
    classes : tuple of str
    licence, origin : str
    ask : str
        Whom to ask for the files, put so that it can follow "or".
    files : tuple of str
        The files in a folder of data sets, relative to it.
    downloads : tuple of Download
        The same content at its public origin, perhaps in another format.
    content : str or None
        SHA-256 of what was parsed, see `digest`; None where it has not been computed yet.
    shipped : bool
        Whether it is part of scikit-learn.
    """

    name: str
    title: str
    n_samples: int
    n_features: int
    classes: tuple[str, ...]
    licence: str
    origin: str
    ask: str
    files: tuple[str, ...] = ()
    downloads: tuple[Download, ...] = ()
    content: str | None = None
    shipped: bool = False

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def public(self) -> bool:
        """True if the data set is freely available."""
        return self.shipped or bool(self.downloads)
