"""Conversion of parsed data to a Bunch, as returned by scikit-learn's loaders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from reproduction.datasets.files import Place
from reproduction.datasets.source import Source
from sslart._utils.optional import optional


def to_bunch(
    source: Source,
    data: Any,
    target: Any,
    feature_names: Sequence[str],
    place: Place,
    *,
    as_frame: bool,
    return_X_y: bool,
    note: str = "",
    extra: Mapping[str, Any] | None = None,
) -> Any:
    """Return a Bunch, or (data, target); `extra` holds further arrays with an entry per sample."""
    frame = None
    if as_frame:
        pandas = optional("pandas", "reproduction")
        data = data if hasattr(data, "columns") else pandas.DataFrame(data, columns=list(feature_names))
        target = pandas.Series(target, index=data.index, name="target")
        frame = pandas.concat([data, target], axis=1)
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        frame=frame,
        feature_names=list(feature_names),
        target_names=np.array(source.classes),
        DESCR=_describe(source, data.shape, note),
        filename=None if place.paths is None else [str(path) for path in place.paths],
        source=place.found_in,
        **(extra or {}),
    )


def _describe(source: Source, shape: tuple[int, int], note: str) -> str:
    lines = [
        source.title,
        "=" * len(source.title),
        f"{shape[0]} samples, {shape[1]} features, {source.n_classes} classes: {', '.join(source.classes)}.",
        f"Origin: {source.origin}.",
        f"Licence: {source.licence}.",
    ]
    return "\n".join([*lines, note] if note else lines)
