"""Save and load models."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from numpy.typing import NDArray

from sslart._utils.text import printable
from sslart._utils.validation import check_flag
from sslart.estimators import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP
from sslart.persistence._file import file_contents, read_arrays, read_header, write_file
from sslart.persistence._plain import PlainReader, to_plain

_ESTIMATORS = {cls.__name__: cls for cls in (FuzzyART, FuzzyARTMAP, SSLART, AutoSSLART, WESSLART)}

Model = FuzzyART | FuzzyARTMAP | SSLART | AutoSSLART | WESSLART


def save(model: Model, path: str | os.PathLike[str], samples: bool = True) -> None:
    """Write a model to one file atomically.

    The file holds the fitted weights: a model that is loaded predicts at once, and the same bits.

    Parameters
    ----------
    model : FuzzyART, FuzzyARTMAP, SSLART, AutoSSLART or WESSLART
        Fitted or not. `FuzzyART.labels_`, which belongs to the samples last learnt, is not saved.
    path : str or path
        An older file there is replaced only when the new one is complete.
    samples : bool, default=True
        Whether the file holds samples of the training table, in the user's units: evidence mapping keeps the labelled
        ones, to learn on from. Without them the loaded model predicts, explains and flags novelty with the same bits.
        All that needs them raises a ValueError: `partial_fit`, `sslart.merge`, and whatever shows or weighs labelled
        samples, such as questions for active learning. `fit` learns afresh.

    Notes
    -----
    A file without samples is no anonymous file. It holds the boxes, the range of each column (with ``scaling="rank"`` a
    table of its values), and the names of columns, categories and classes. A box of a single sample is that sample: all
    boxes of `support_` 1 can be read as rows, rounded to a grid of 2**32 steps. Lower the vigilance, so that boxes hold
    several samples, where that matters. No key or hash of a row is in the file, and nothing of the drift that a stream
    has shown. Of each labelled sample the file has its class, which labels belong together, and what the others predict
    for it, by which promises are kept.

    Examples
    --------
    >>> import tempfile, sslart
    >>> from pathlib import Path
    >>> model = sslart.FuzzyARTMAP().fit([[0], [1]], ["no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sslart.save(model, Path(folder) / "model.sslart")
    ...     sslart.load(Path(folder) / "model.sslart").predict([[0.9]])
    array(['yes'], dtype='<U3')
    """
    save_with_notes(model, path, {}, samples=check_flag("sslart.save", "samples", samples))


def save_with_notes(
    model: Model,
    path: str | os.PathLike[str],
    notes: dict[str, Any],
    before_replace: Callable[[Path], None] | None = None,
    *,
    samples: bool = True,
) -> None:
    """Write a model to one file, with further plain values and arrays that `load` leaves out of account.

    `before_replace` gets the path of the new file just before it takes the place of the old one, and may raise.
    """
    write_file(Path(path), *_described(model, notes, samples=samples), before_replace)


def model_bytes(model: Model) -> bytes:
    """Return the bytes that `save` writes; they are equal for models that agree in every bit."""
    return b"".join(file_contents(*_described(model, {}, samples=True)))


def _described(model: Model, notes: dict[str, Any], *, samples: bool) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """Return the header and the arrays of the file of a model."""
    if _ESTIMATORS.get(type(model).__name__) is not type(model):
        cure = " of sslart.dask: save what its to_local() returns" if hasattr(model, "to_local") else ""
        raise TypeError(f"sslart.save takes {', '.join(_ESTIMATORS)}, got {type(model).__name__}{cure}.")
    arrays: list[NDArray[Any]] = []
    described: dict[str, Any] = {
        "estimator": type(model).__name__,
        "parameters": to_plain(model.get_params(deep=False), arrays),  # type: ignore[no-untyped-call]
        "state": to_plain(model.__sslart_state__(samples=samples), arrays) if model.__sklearn_is_fitted__() else None,
    }
    if notes:
        described["notes"] = to_plain(notes, arrays)
    return described, arrays


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model written by `save`; it predicts and learns exactly as the saved model would have.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    FuzzyART, FuzzyARTMAP, SSLART, AutoSSLART or WESSLART

    Raises
    ------
    ValueError
        If the file is not a model, is damaged, was written by a sslart of another protocol, or holds what no model can
        have, whatever its checksum: arrays whose shapes do not fit together; boxes off the grid, or with the upper
        corner below the lower one; ranges that are infinite or reversed; numbers of samples that are negative, above
        2**53, or lower than those of their parts; classes that come twice or have no sample; members with other columns
        or classes; weights that are no numbers, and trees that do not end; a header of more than 2**28 bytes, or with
        values that are nested more than 64 levels deep.

    Notes
    -----
    What is loaded can be saved and loaded again. Parameters are not checked here but, as everywhere, when they are
    used. Nothing is fitted: the weights are those of the file. Loading takes memory in proportion to the size of the
    file, and runs nothing that is in it. Where a file was saved without samples, what needs them raises a ValueError.
    """
    return load_with_notes(path)[0]


def load_with_notes(path: str | os.PathLike[str]) -> tuple[Model, dict[str, Any]]:
    """Read a model and the notes that `save_with_notes` wrote with it (an empty dict without notes)."""
    with Path(path).open("rb") as file:
        return _read(file, path)


def model_from_bytes(content: bytes, name: str) -> Model:
    """Return the model in the bytes of `model_bytes` or of a saved file; `name` identifies it in errors."""
    return _read(io.BytesIO(content), name)[0]


def _read(file: BinaryIO, path: str | os.PathLike[str]) -> tuple[Model, dict[str, Any]]:
    header, content = read_header(file, path)
    try:
        reader = PlainReader(read_arrays(content, header["arrays"]))
        cls = _ESTIMATORS[header["estimator"]]
        model: Model = cls(**reader.read(header["parameters"]))
        if header["state"] is not None:
            model.__sslart_restore__(reader.read(header["state"]))
        notes = reader.read(header.get("notes", {}))
        if not isinstance(notes, dict):
            raise ValueError("the notes beside the model are of another kind")
        reader.check_all_read()
    except KeyError as error:
        raise ValueError(f"{printable(os.fspath(path))} is not a valid sslart model: it has no {error}.") from error
    except (ValueError, TypeError, IndexError, AttributeError, OverflowError) as error:
        raise ValueError(printable(f"{os.fspath(path)} is not a valid sslart model: {error}.")) from error
    return model, notes
