"""Tables of a few hundred samples, from UCI's files or from copies with a header."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.datasets.bunch import to_bunch
from reproduction.datasets.catalogue import source_of
from reproduction.datasets.columns import CODES, FEATURES
from reproduction.datasets.content import check_content, check_counts, reading
from reproduction.datasets.files import Place, obtain
from reproduction.datasets.read import read_cells, read_text, to_numbers, without_header
from reproduction.datasets.source import Source
from sslart._utils.optional import optional

_Cells = list[list[str]]


def _load(
    name: str,
    as_frame: bool,
    return_X_y: bool,
    *,
    header: bool = True,
    to_data: Callable[[str, _Cells], Any] | None = None,
    change: Callable[[Any], Any] | None = None,
    note: str = "",
) -> Any:
    source = source_of(name)
    place = obtain(source)
    data, target = _parse(source, place, header, to_data or _all_numbers)
    check_counts(source, data, target, place)
    check_content(source, data, target, place)
    return to_bunch(
        source,
        data if change is None else change(data),
        target,
        FEATURES[name],
        place,
        as_frame=as_frame,
        return_X_y=return_X_y,
        note=note,
    )


def _parse(
    source: Source, place: Place, header: bool, to_data: Callable[[str, _Cells], Any]
) -> tuple[Any, NDArray[np.str_]]:
    with reading(source, place):
        rows = read_cells(read_text(place.files[0]))
        rows = without_header(rows) if header else rows
        return to_data(source.name, [row[:-1] for row in rows]), _classes(source.name, [row[-1] for row in rows])


def _all_numbers(name: str, rows: _Cells) -> NDArray[np.float64]:
    return to_numbers(rows, len(FEATURES[name]))


def _classes(name: str, cells: list[str]) -> NDArray[np.str_]:
    codes = CODES[name]
    strange = next((cell for cell in cells if cell not in codes), None)
    if strange is not None:
        raise ValueError(f"{strange!r} is not one of the classes {', '.join(codes)}")
    return np.array([codes[cell] for cell in cells])


def load_australian(*, as_frame: bool = False, return_X_y: bool = False) -> Any:
    """Load the Australian credit data: 690 applications, 14 disguised features, 2 classes."""
    return _load("australian", as_frame, return_X_y)


def load_bupa(*, as_frame: bool = False, return_X_y: bool = False) -> Any:
    """Load the BUPA liver data: 345 men, 5 blood tests and their drinks per day, 2 classes.

    The classes "1" and "2" are the donors' selector, as most papers use it. It marks a split, not a diagnosis.
    """
    return _load("bupa", as_frame, return_X_y)


def load_german(*, as_frame: bool = False, return_X_y: bool = False) -> Any:
    """Load the German credit data in its numeric version: 1000 debtors, 24 features, good or bad."""
    return _load("german", as_frame, return_X_y)


def load_haberman(*, as_frame: bool = False, return_X_y: bool = False) -> Any:
    """Load Haberman's survival data: 306 patients, 3 features; survived five years or died."""
    return _load("haberman", as_frame, return_X_y)


def load_heart_cleveland(*, as_frame: bool = False, return_X_y: bool = False) -> Any:
    """Load the Cleveland heart data: 303 patients, 13 features; absence or presence of disease (num > 0).

    Six values of ca and thal are missing and stay NaN.
    """
    return _load("heart_cleveland", as_frame, return_X_y)


def load_ionosphere(*, as_frame: bool = False, return_X_y: bool = False) -> Any:
    """Load the ionosphere data: 351 radar returns, 17 complex numbers each, good or bad."""
    return _load("ionosphere", as_frame, return_X_y)


def load_kr_vs_kp(*, as_frame: bool = False, return_X_y: bool = False) -> Any:
    """Load the chess end games of king and rook against king and pawn: 3196 positions, 36 nominal features.

    Parameters
    ----------
    as_frame, return_X_y : bool, default=False
        Give the target as a pandas object too (the data is a DataFrame of categories in any case); give (data, target)
        alone.
    """
    return _load("kr_vs_kp", as_frame, return_X_y, header=False, to_data=_all_categories)


def _all_categories(name: str, rows: _Cells) -> Any:
    width = len(FEATURES[name])
    odd = next((row for row in rows if len(row) != width), None)
    if odd is not None:
        raise ValueError(f"a row has {len(odd)} values where {width} are expected")
    return optional("pandas", "reproduction").DataFrame(rows, columns=list(FEATURES[name])).astype("category")


def load_mammographic(*, as_frame: bool = False, return_X_y: bool = False) -> Any:
    """Load the mammographic masses: 961 masses, 5 features, benign or malignant.

    162 values are missing and stay NaN. Feature 0, BI-RADS, is a physician's judgement of the class itself.
    """
    return _load("mammographic", as_frame, return_X_y)


def load_pima(*, zeros_as_missing: bool = False, as_frame: bool = False, return_X_y: bool = False) -> Any:
    """Load the Pima diabetes data: 768 women, 8 features, negative or positive.

    Parameters
    ----------
    zeros_as_missing : bool, default=False
        Put NaN where glucose, blood pressure, skin thickness, insulin or body mass index is 0: nobody has measured it.
    """
    note = "Zeros in columns 1 to 5 stand for missing values" + ("; here they are NaN." if zeros_as_missing else ".")
    return _load("pima", as_frame, return_X_y, change=_zeros_to_nan if zeros_as_missing else None, note=note)


def _zeros_to_nan(data: NDArray[np.float64]) -> NDArray[np.float64]:
    measured = data[:, 1:6]
    measured[measured == 0] = np.nan
    return data


def load_seeds(*, as_frame: bool = False, return_X_y: bool = False) -> Any:
    """Load the seeds data: 210 kernels of wheat, 7 measurements, 3 varieties."""
    return _load("seeds", as_frame, return_X_y)


def load_zoo(*, as_frame: bool = False, return_X_y: bool = False) -> Any:
    """Load the zoo: 101 animals without their names, 15 properties and the number of legs, 7 classes."""
    return _load("zoo", as_frame, return_X_y, to_data=_without_animal)


def _without_animal(name: str, rows: _Cells) -> NDArray[np.float64]:
    numbers = {"true": "1", "false": "0"}
    return _all_numbers(name, [[numbers.get(cell, cell) for cell in row[1:]] for row in rows])
