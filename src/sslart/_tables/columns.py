"""Interpretation of the columns of a table: labels, groups, numbers, dates, categories, or unusable columns."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from sslart._data.columns import MARKED, why_useless
from sslart._data.dates import days_of
from sslart._data.interpretation import in_words
from sslart._data.text_parsing import (
    AMONG_NUMBERS,
    FEW_CODES,
    LEADING_ZERO,
    MIN_REPEATS,
    MISSING,
    SLIPS,
    NotADateError,
    are_dates,
    day_comes_first,
    is_date,
    lacks_a_part,
    moments,
    numbers_of_unit,
    numbers_with_marks,
)
from sslart._mapping.model_view import view_of
from sslart._tables import arrow, pandas
from sslart._tables.cells import distinct, plain, present_texts, texts
from sslart._tables.files import read_pieces, read_table
from sslart._utils.notes import note
from sslart._utils.text import Day, listed

COMMA_NUMBER = re.compile(r"[+-]?\d+,\d+")
WITH_A_MARK = re.compile(r"[$€£]?\s?[+-]?\d[\d\s.,']*\s?[%$€£]?")
WITH_A_UNIT = re.compile(r"[+-]?[\d.,]+\s?[^\d\s].*")
SHOWN_CELLS = 5
MOST_FIRST = 1000  # cells checked for leading zeros, to save time


class ColumnSummary(NamedTuple):
    """Interpretation of a column: name, kind, number of missing values, and details.

    The number of missing values is None for a column that is left out.
    """

    name: str
    kind: str
    missing: int | None
    detail: str


def split_names(options: Sequence[str] | None, columns: Container[str]) -> list[str]:
    """Return the columns named in an option that may be repeated, or given once with commas."""
    names: list[str] = []
    for text in options or ():
        names += [text] if text in columns else [name.strip() for name in text.split(",") if name.strip()]
    return names


def check_columns(present: Iterable[str], names: Iterable[str | None], source: str) -> None:
    """Raise a ValueError if a column named by the user does not exist."""
    known = list(present)
    for name in names:
        if name is not None and name not in known:
            raise ValueError(f"{source} has no column {name!r}; it has {listed(known, 12)}.")


def labels_of(frame: Any, name: str, source: str, classes: Any = None) -> list[Any]:
    """Return the labels in a column, None where blank: as text, or in the type of a model's classes."""
    check_columns(frame.columns, [name], source)
    cells = texts(frame[name])
    labels = [None if cell in MISSING else cell for cell in cells]
    known = [label for label in labels if label is not None]
    marks = sorted({cell for cell in cells if cell in MISSING})
    if marks:
        note(f"{listed(marks)} in column {name!r} is treated as unlabelled. If it is a class, give it another name.")
    if classes is not None and len(classes) and classes.dtype.kind in "ib":
        read = int if classes.dtype.kind == "i" else {"true": True, "1": True, "false": False, "0": False}.__getitem__
        try:
            return [None if label is None else read(label.lower()) for label in labels]
        except (ValueError, KeyError) as error:
            raise ValueError(
                f"Column {name!r} of {source} has a label that is not of the kind of the model's classes, which are "
                f"{listed([str(one) for one in classes.tolist()], 12)}: correct it, or leave the cell blank."
            ) from error
    numbers = pandas().to_numeric(pandas().Series(known, dtype=object), errors="coerce")
    if known and numbers.notna().all() and (numbers % 1 != 0).any():
        raise ValueError(
            f"Column {name!r} of {source} holds measurements such as {known[0]}, not classes: name the column with "
            "the classes, or cut the measurements into classes first."
        )
    if "-1" in known:
        note(f"-1 in column {name!r} is treated as a class. Leave a cell blank where the class is not known.")
    of_model = {} if classes is None else {plain(one): one for one in classes.tolist()}
    return [label if label is None else of_model.get(label, label) for label in labels]


def groups_of(frame: Any, name: str, source: str, classes: Sequence[Any] | None) -> list[str | None]:
    """Return the groups in a column as text, None where blank; every row with a class must have one."""
    groups = present_texts(frame[name])
    pairs = enumerate(zip(groups, classes or (), strict=classes is not None))
    blank = [row for row, (group, one) in pairs if group is None and one is not None]
    if blank:
        raise ValueError(
            f"Column {name!r} of {source} is blank in {len(blank)} labelled row(s); the first is row "
            f"{frame.index[blank[0]] + 1} below the header. Name the group of each, or give it a name of its own."
        )
    return groups


def blank_rows(frame: Any, names: Sequence[str], source: str) -> Any:
    """Return a mask of rows without any cell in the named columns, with a note; all False if all are blank.

    A cell with a marker of a missing value is blank.
    """
    blank = np.ones(len(frame), dtype=bool)
    for name in names:
        if not blank.any():
            break
        column = frame[name]
        is_blank = column.isna()
        blank &= (is_blank if column.dtype.kind in "iufbmM" else is_blank | column.isin(MISSING)).to_numpy()
    if blank.any() and not blank.all():
        first = frame.index[blank][0] + 1
        note(f"{int(blank.sum())} row(s) of {source} are blank and ignored; the first is row {first}.")
    return blank & (not blank.all())


def rows_with_values(model: Any, frame: Any, source: str, features: Any = None) -> Any:
    """Drop the rows of a frame that are blank in all columns that a model has learnt from, or in all features."""
    features = frame.columns if features is None else features
    check_learnt_columns(model, features, source)
    return frame[~blank_rows(frame, learnt_columns(model) or features, source)]


def read_samples_for(
    model: Any, data: str, encoding: str | None, label: str | None = None, id_column: str | None = None
) -> tuple[Any, Any, list[Any] | None]:
    """Return the non-blank rows of a file, their samples converted for a model, and their labels if there are any."""
    frame = read_table(data, encoding)
    check_columns(frame.columns, [label, id_column], data)
    frame = rows_with_values(model, frame, data)
    labels = None if label is None else labels_of(frame, label, data, model.classes_)
    others = [name for name in (label, id_column) if name is not None]
    return frame, samples_for(model, frame.drop(columns=others), data), labels


def features_of(frame: Any, source: str, categories: Sequence[str] = (), numbers: Sequence[str] = ()) -> Any:
    """Return the feature columns of a frame: as numbers where possible, else (or if named) as categories.

    In columns named as `numbers`, cells that are not numbers are treated as blank.
    """
    if not len(frame.columns):
        raise ValueError(f"{source} has no column left to learn from: ignore fewer columns.")
    columns = {}
    for name in frame.columns:
        is_category = True if name in categories else False if name in numbers else None
        unit = units_of(frame, [name], numbers).get(name, "") if name in numbers else None
        columns[name] = _feature(name, frame[name], source, categorical=is_category, unit=unit)
    return _checked(columns, source, frame.index, blank_rows=True)


def units_of(frame: Any, names: Sequence[str], numbers: Sequence[str] = ()) -> dict[str, str]:
    """Return the unit of each of the named text columns that hold numbers; empty if there is none.

    `numbers` are the columns that the user has declared as numbers.
    """
    found = {}
    for name in names:
        if frame[name].dtype.kind in "iufbmM":
            continue
        places, cells = _distinct(frame[name])
        with suppress(ValueError):  # most columns: plain numbers
            for cell in cells:
                float(cell or 0)
            continue
        counts = np.bincount(places % len(cells), minlength=len(cells)).tolist()
        known = numbers_with_marks(cells, counts, are_numbers=name in numbers)
        found[name] = "" if known is None else known.unit
    return found


def unusable(samples: Any, wanted: Sequence[str]) -> dict[str, str]:
    """Return the columns that are useless as features, with the reason, except those that the user wants."""
    found = {}
    for name in samples.columns:
        column = samples[name]
        if name not in wanted and column.dtype.kind != "M" and (why := why_useless(name, column.to_numpy())):
            found[name] = why
    return {} if len(found) == len(samples.columns) else found


def day_first_columns(frame: Any, samples: Any) -> list[str]:
    """Return the date columns in which the day precedes the month, as written in the original frame."""
    dates = [name for name in samples.columns if samples[name].dtype.kind == "M" and frame[name].dtype.kind != "M"]
    return [name for name in dates if day_comes_first(present_texts(frame[name]))]


def learnt_columns(model: Any) -> list[str]:
    """Return the names of the columns that a model has learnt from; empty if they had no names."""
    return [str(name) for name in getattr(model, "feature_names_in_", ())]


def check_learnt_columns(model: Any, present: Iterable[str], source: str) -> None:
    """Raise a ValueError if a column that a model has learnt from is missing."""
    known, left_out = list(present), view_of(model).reader.plan.left_out
    names = [name for place, name in enumerate(learnt_columns(model)) if place not in left_out]
    if not names and len(known) != model.n_features_in_:
        raise ValueError(
            f"The model has learnt from {model.n_features_in_} columns without names, and {source} has {len(known)}: "
            "give these columns alone, in the order they were learnt in."
        )
    missing = [name for name in names if name not in known]
    if missing:
        raise ValueError(
            f"{source} lacks {listed(missing)}, which the model has learnt from: add a column of this name, blank "
            f"where not known, or fit a model without it: sslart fit ... --ignore {shlex.quote(','.join(missing))}"
        )


def samples_for(model: Any, frame: Any, source: str) -> Any:
    """Convert a frame to samples of a model: its columns, in its order and with its types."""
    check_learnt_columns(model, frame.columns, source)
    names = learnt_columns(model)
    if not names:
        known = {name: _feature(name, frame[name], source, categorical=False) for name in frame.columns}
        return _checked(known, source, frame.index).to_numpy()
    view = view_of(model)
    encoder, plan = view.members[0].encoder, view.reader.plan
    units = {place: unit for place, unit in plan.texts if unit != MARKED}
    columns: dict[str, Any] = {}
    for place, name in enumerate(names):
        if place in plan.left_out:
            columns[name] = np.full(len(frame), None)
            continue
        if place in plan.dates:
            columns[name] = _dates(name, frame[name], source, day_first=place in plan.day_first)
            continue
        categories = {plain(str(one)): one for one in encoder.categories_of(place)}
        is_category = None if place in encoder.undecided else place in encoder.categorical
        found = _feature(
            name, frame[name], source, categorical=is_category, categories=categories, unit=units.get(place)
        )
        columns[name] = pandas().Series(found, dtype=object) if is_category else found  # keep booleans and numbers
    return _checked(columns, source, frame.index)


def _checked(columns: Mapping[str, Any], source: str, index: Any, *, blank_rows: bool = False) -> Any:
    """Return the columns as a frame, or raise a ValueError for infinity or blank rows.

    With `blank_rows`, blank rows are accepted if others have values.
    """
    frame = pandas().DataFrame(columns)
    for name in frame.columns:
        infinite = np.isinf(frame[name].to_numpy()).nonzero()[0] if frame[name].dtype.kind == "f" else np.empty(0)
        if len(infinite):
            raise ValueError(
                f"Column {name!r} of {source} holds infinity in row {index[infinite[0]] + 1} below the header"
                f"{f' and {len(infinite) - 1} more' if len(infinite) > 1 else ''}: leave the cell blank where the "
                "value is not known, or give a finite limit where it is very large."
            )
    empty = frame.isna().all(axis=1).to_numpy().nonzero()[0]
    if len(empty) and not (blank_rows and len(empty) < len(frame)):
        raise ValueError(
            f"{len(empty)} row(s) of {source} have no value at all (the first is row {index[empty[0]] + 1} below the "
            "header): delete them."
        )
    return frame


def _feature(
    name: str,
    column: Any,
    source: str,
    *,
    categorical: bool | None = None,
    categories: Mapping[str, Any] | None = None,
    unit: str | None = None,
) -> Any:
    """Convert a column to numbers or categories; if `categorical` is None, to numbers if all values are numbers.

    With a unit, which may be empty, numbers may have it, and other cells are treated as blank.
    """
    pd = pandas()
    where = f"Column {name!r} of {source}"
    if column.dtype.kind in "mM" and categorical is None:
        return column.to_numpy() if column.dtype.kind == "M" else column.dt.total_seconds().to_numpy()
    if column.dtype.kind in "iuf" and not categorical:
        return column.astype("float64").to_numpy()
    if categorical:
        return _categories(column, categories or {})
    is_yes_or_no = column.dtype.kind == "b" or (column.dtype == object and column.map(type).eq(bool).any())
    if not is_yes_or_no:
        with suppress(*_not_numbers()):  # fast path for plain numbers
            values = arrow("").array(column, from_pandas=True).cast("float64").to_numpy(zero_copy_only=False)
            if categorical is None:
                _note_leading_zeros(name, column)
            return values
    cells = present_texts(column)
    numbers = pd.to_numeric(pd.Series(cells, dtype=object), errors="coerce").to_numpy(dtype="float64")
    others = [cell for cell, number in zip(cells, numbers, strict=True) if cell is not None and number != number]
    if categorical is None:
        categorical, n_known = bool(others), sum(cell is not None for cell in cells)
        if others and len(others) == n_known and are_dates(set(others)):
            return _dates(name, column, source, day_first=None)
        if categorical:
            if (values := _marked_numbers(name, column)) is not None:
                return values
            if n_known > 2 * len(others) and all(cell.lower() in AMONG_NUMBERS for cell in others):
                _note_blank(name, others)
                return numbers
            _refuse_other_kinds(name, where, others, [cell for cell in cells if cell is not None])
    if not categorical:
        if others and unit is not None:
            numbers, wrong = numbers_of_unit(cells, unit)
            _note_blank(name, [cell for cell, one in zip(cells, numbers, strict=True) if cell and one != one])
            others = wrong
        if others:
            row = column.index[cells.index(others[0])] + 1
            raise ValueError(
                f"{where} holds numbers in the model, and {others[0]!r} in row {row} is not one: correct it, or leave "
                "the cell blank."
            )
        return numbers
    return _categories(column, categories or {})


def _marked_numbers(name: str, column: Any) -> Any:
    """Parse the numbers with signs or a unit in a column, with a note; None if it has none."""
    places, cells = _distinct(column)
    found = numbers_with_marks(cells, np.bincount(places % len(cells), minlength=len(cells)).tolist())
    if found is None:
        return None
    note(f"column {name!r} has {in_words(found)}. --category {shlex.quote(name)} takes its texts for categories.")
    return found.values[places]


def _note_blank(name: str, cells: Iterable[str]) -> None:
    shown = sorted(set(cells))
    if shown:
        note(f"column {name!r} holds numbers; {listed(shown, SHOWN_CELLS)} in it is treated as blank.")


def _note_names(name: str, cells: Sequence[str], others: Sequence[str]) -> bool:
    """Note texts among numbers that look like codes, and return True; else return False.

    Codes have leading zeros, or they are few and the texts are repeated often.
    """
    counts = Counter(others)
    known = set(cells)
    are_repeated = len(known) <= FEW_CODES and min(counts.values()) >= MIN_REPEATS
    if not are_repeated and not any(LEADING_ZERO.match(cell) for cell in known.difference(counts)):
        return False
    note(
        f"column {name!r} has {listed(sorted(counts), SHOWN_CELLS)} among numbers that look like codes: all are "
        f"treated as categories. --number {shlex.quote(name)} takes the numbers for amounts, and the others for blank."
    )
    return True


def _note_leading_zeros(name: str, column: Any) -> None:
    """Note that numbers with leading zeros may be codes."""
    if column.dtype.kind in "iufbmM":
        return
    example = next((cell for cell in column.dropna().tolist()[:MOST_FIRST] if LEADING_ZERO.match(str(cell))), None)
    if example is not None:
        note(
            f"column {name!r} has leading zeros, such as {example}, as codes have: if it is one, give --category "
            f"{shlex.quote(name)}."
        )


def _categories(column: Any, known: Mapping[str, Any]) -> Any:
    """Return a column as categories, with known ones in their learnt type."""
    places, cells = _distinct(column)
    return np.array([None if cell is None else known.get(cell, cell) for cell in cells], dtype=object)[places]


def _distinct(column: Any) -> tuple[Any, list[str | None]]:
    """Return the index of each row's cell among the distinct cells, and these, with None for missing ones as last."""
    places, cells = distinct(column)
    return places, [None if cell is None or (text := plain(cell)) in MISSING else text for cell in cells]


def _dates(name: str, column: Any, source: str, *, day_first: bool | None) -> Any:
    """Parse a column as dates; if `day_first` is None, it is inferred from the cells."""
    if column.dtype.kind == "M":
        return column.to_numpy()
    places, cells = _distinct(column)
    if others := [cell for cell in cells if cell is not None and lacks_a_part(cell)]:
        verb = "lacks a part of the date and is" if len(others) == 1 else "lack a part of the date and are"
        note(f"{listed(sorted(others), SHOWN_CELLS)} in column {name!r} {verb} treated as blank.")
    if day_first is None:
        day_first = day_comes_first(cells)
        if day_first is None:
            some = next(cell for cell in cells if cell is not None and cell not in others)
            note(f"column {name!r} has dates such as {some}, of which the month is taken to come first.")
    try:
        return moments(cells, day_first=bool(day_first))[places]
    except NotADateError as error:
        row = column.index[(places == error.place).nonzero()[0][0]] + 1
        raise ValueError(
            f"Column {name!r} of {source} holds dates, and {cells[error.place]!r} in row {row} is not one: correct it, "
            "or leave the cell blank."
        ) from error


def _not_numbers() -> tuple[type[Exception], ...]:
    pyarrow = arrow("")
    return pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError, pyarrow.ArrowTypeError


def _refuse_other_kinds(name: str, where: str, others: list[str], cells: Sequence[str]) -> None:
    """Raise a ValueError for numbers with a comma or a unit, and for typing errors among dates or numbers.

    `others` are the cells that are not plain numbers.
    """
    n_known = len(cells)
    not_dates = [cell for cell in others if not is_date(cell)]
    if len(others) == n_known and len(not_dates) <= SLIPS * n_known:
        raise ValueError(
            f"{where} holds dates, but for {len(not_dates)} of {n_known} values: {listed(sorted(set(not_dates)))}. "
            f"Correct them, leave their cells blank, or take all for categories: --category '{name}'."
        )
    if all(COMMA_NUMBER.fullmatch(cell) for cell in others):
        raise ValueError(
            f"{where} has numbers with a comma, such as {others[0]!r}: write 1.5 for one"
            " and a half, and thousands without a mark."
        )
    if all(WITH_A_MARK.fullmatch(cell) for cell in others):
        raise ValueError(
            f"{where} has numbers with a mark or a unit, such as {others[0]!r}: write the bare number, or take all for "
            f"categories: --category '{name}'."
        )
    units = {re.sub(r"^[+-]?[\d.,]+\s?", "", cell) for cell in others}
    if len(units) == 1 and len(set(others)) > FEW_CODES and all(WITH_A_UNIT.fullmatch(cell) for cell in others):
        raise ValueError(
            f"{where} has numbers with a unit, such as {others[0]!r}: write the bare number, or take all for "
            f"categories: --category '{name}'."
        )
    if len(others) <= SLIPS * n_known and not _note_names(name, cells, others):
        raise ValueError(
            f"{where} holds numbers, but for {len(others)} of {n_known} values: {listed(sorted(set(others)))}. Correct "
            f"them, leave their cells blank, or take all for categories: --category '{name}'."
        )


def understood(samples: Any) -> list[ColumnSummary]:
    """Return the interpretation of each feature column."""
    described = []
    for name in samples.columns:
        column = samples[name]
        missing, known = int(column.isna().sum()), column.dropna()
        if column.dtype.kind == "M":
            first, last = (Day(value) for value in days_of(known.agg(["min", "max"]), name)) if len(known) else ("", "")
            described.append(ColumnSummary(name, "date", missing, f"{first} to {last}" if len(known) else "no value"))
            continue
        if column.dtype.kind == "f":
            detail = f"{known.min():g} to {known.max():g}" if len(known) else "no value"
            described.append(ColumnSummary(name, "number", missing, detail))
            continue
        counts = known.value_counts()
        described.append(
            ColumnSummary(
                name, "category", missing, f"{len(counts)} categories: {listed([str(one) for one in counts.index])}"
            )
        )
    return described


def sample_of_row(model: Any, data: str, row: int, encoding: str | None = None) -> Any:
    """Return a row of a table, counted from 1 below the header, with the columns that a model has learnt from."""
    return samples_for(model, frame_of_row(data, row, encoding), data)


def frame_of_row(data: str, row: int, encoding: str | None = None) -> Any:
    """Return a row of a table, counted from 1 below the header, as a frame with all columns."""
    n_rows = 0
    for frame in read_pieces(data, encoding):
        n_rows += len(frame)
        if row <= n_rows:
            return frame.loc[row - 1 : row - 1]
    raise ValueError(f"{data} has {n_rows} rows, so there is no row {row}: give --row from 1 to {n_rows}.")
