"""Labels given by the user: classes, groups and weights of samples, and the table of classes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from sslart._data.samples import PLAIN_TYPES, Table, is_all, is_missing, plain_value, without_mask
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.cache import CachesValues

if TYPE_CHECKING:
    from sslart._data.roles import Units

Label = int | bool | str

UNLABELLED = -1
NO_GROUP = 0
MAX_PRESENTATIONS = 100  # times that boxes learn one sample, to bound the time
MIN_WEIGHT, MAX_WEIGHT = 1e-100, 1e100  # positive sample weights: their squares neither vanish nor overflow
FEW = 32  # labels: looking up each is faster than sorting up to here
USUAL_KINDS = "iubfUO"  # array kinds that scikit-learn's checks leave unchanged
NO_TRUTH = (
    "y has no labelled sample to score against: give the true classes of some samples. In cross-validation, "
    "cv=sslart.model_selection.StratifiedLabelledKFold() gives test folds of labelled samples."
)
_INFINITE_LABEL = "Input y contains infinity: a label is a class, or NaN where it is not known."
_WRONG_TYPE = (
    "Unknown label type: {}. Labels are integers, strings or booleans; -1, None, NaN or blank text mean unlabelled."
)


@dataclass(frozen=True)
class Labels:
    """Class labels of samples, some of which may be unlabelled.

    Attributes
    ----------
    values : array of length n_samples
        Labels as integers, booleans or strings. Where `known` is False: -1 if the user wrote that, else arbitrary.
    known : boolean array of length n_samples
        Mask of labelled samples.
    groups : array of int of length n_samples, or None
        Key of the group of each sample, 0 for no group; None: no groups.
    weights : array of length n_samples, or None
        Sample weights, above 0; None: all 1.
    answers : array of int of length n_samples, or None
        Key of the answer that gave each label, 0 for an answer of its own; None: one answer for each label.
    at_random : boolean array of length n_samples, or None
        Mask of samples that were drawn at random to be labelled; None: all.
    units : tuple of Units
        Candidate groupings of the labelled samples, if the user gave no groups.
    """

    values: NDArray[Any]
    known: BoolArray
    groups: IntArray | None = None
    weights: FloatArray | None = None
    answers: IntArray | None = None
    at_random: BoolArray | None = None
    units: tuple[Units, ...] = ()

    def __getitem__(self, rows: Any) -> Labels:
        if is_all(rows, len(self.known)):
            return self
        beside = (self.groups, self.weights, self.answers, self.at_random)
        groups, weights, answers, at_random = (None if one is None else one[rows] for one in beside)
        known, units = self.known[rows], self.units
        if units:
            places = (np.cumsum(self.known) - 1)[rows][known]
            units = tuple(one.of(places) for one in units)
        return Labels(self.values[rows], known, groups, weights, answers, at_random, units)

    @property
    def presentations(self) -> IntArray | None:
        """Number of times boxes learn each sample: its rounded weight, from 1 to `MAX_PRESENTATIONS`; None: once."""
        if self.weights is None:
            return None
        return np.clip(np.rint(self.weights), 1, MAX_PRESENTATIONS).astype(np.int64)

    @classmethod
    def none(cls, n_samples: int) -> Labels:
        """Return labels for samples that are all unlabelled."""
        return cls(np.zeros(n_samples, dtype=np.int64), np.zeros(n_samples, dtype=bool))

    def plain(self) -> list[Any]:
        """Return the class of each sample as a plain value; None where unlabelled."""
        pairs = zip(self.values.tolist(), self.known.tolist(), strict=True)
        return [value if known else None for value, known in pairs]

    def with_class_minus_one(self) -> Labels:
        """Return the labels with -1 treated as an ordinary class."""
        return replace(self, known=self.known | self._minus_one())

    def _minus_one(self) -> BoolArray:
        # a sample without a label has the value 0, so every -1 was written by the user
        return np.asarray((self.values == UNLABELLED) & (self.values.dtype.kind == "i"))

    def are_plus_and_minus_one(self) -> bool:
        """Return True if the only values are -1 and 1, so that -1 is probably a class."""
        named = self.values[self.known | self._minus_one()]
        return bool(self._minus_one().any()) and set(np.unique(named).tolist()) == {UNLABELLED, 1}


def read_labels(y: Any, n_samples: int | None = None, *, classes: ClassTable | None = None) -> Labels:
    """Validate y; -1 among integers, None, NaN, pandas.NA and blank text mean unlabelled.

    Parameters
    ----------
    y : array-like
    n_samples : int or None
        Expected number of labels; None: any.
    classes : ClassTable or None
        Classes of the model: if -1 is one of them, it does not mean unlabelled.
    """
    y = without_mask(y)
    array = np.asarray(y) if isinstance(getattr(y, "dtype", None), np.dtype) else _array_of_list(y)
    if array.ndim == 1 and array.dtype.kind in USUAL_KINDS and n_samples in (None, len(array)):
        array = np.ascontiguousarray(array)  # fast path without checks, for streams with one label at a time
    else:
        array = column_or_1d(array, warn=True, dtype=array.dtype)
        if n_samples is not None:
            check_consistent_length(range(n_samples), array)
    known = np.ones(len(array), dtype=bool)
    if array.dtype == object:
        array, known = _read_objects(array)
    elif array.dtype.kind == "f":
        array, known = _read_floats(array)
    elif array.dtype.kind == "U":
        known = np.array([bool(name.strip()) for name in array.tolist()], dtype=bool)
    elif array.dtype.kind == "u":
        array = _integers(array.tolist())
        return Labels(array, known)
    if array.dtype.kind not in "ibU":
        raise ValueError(_WRONG_TYPE.format(array.dtype))
    if array.dtype.kind == "i":
        known &= array != UNLABELLED
    labels = Labels(array, known)
    return labels if classes is None or not classes.has_minus_one() else labels.with_class_minus_one()


def _array_of_list(y: Any) -> NDArray[Any]:
    # np.asarray would turn the NaN of ["a", nan] into the string "nan", and large integers beside a NaN into floats
    values = y.to_list() if hasattr(y, "to_list") else y.tolist() if hasattr(y, "tolist") else y
    if isinstance(values, list) and str in set(map(type, values)):
        return np.array(values, dtype=object)
    array = np.asarray(values)
    return array if array.dtype.kind in "iub" else np.array(values, dtype=object)


def _read_floats(values: NDArray[Any]) -> tuple[NDArray[Any], BoolArray]:
    known = ~np.isnan(values)
    if np.isinf(values).any():
        raise ValueError(_INFINITE_LABEL)
    if (values[known] != np.rint(values[known])).any():
        check_classification_targets(values[known])
    return _integers([int(value) for value in np.where(known, values, 0).tolist()]), known


def _read_objects(values: NDArray[np.object_]) -> tuple[NDArray[Any], BoolArray]:
    plain = values.tolist()
    if not PLAIN_TYPES.issuperset(map(type, plain)):
        other = next(value for value in plain if type(value) not in PLAIN_TYPES)
        gap = other if is_missing(other) else None  # missing values of a long column are mostly the same object
        plain = [
            None if value is gap else value if type(value) in PLAIN_TYPES else plain_value(value) for value in plain
        ]
    if str in set(map(type, plain)):
        plain = [None if isinstance(value, str) and not value.strip() else value for value in plain]
    known = np.array([value is not None for value in plain], dtype=bool)
    given = [value for value in plain if value is not None]
    kinds = {_kind(value) for value in given}
    if not kinds:
        return np.zeros(len(plain), dtype=np.int64), known
    if len(kinds) > 1:
        raise ValueError(
            f"Labels of several kinds in y: {', '.join(sorted(kinds))}. Give all classes as strings, or all as "
            "integers."
        )
    kind = kinds.pop()
    if kind == "string":
        for name in given:
            if name.endswith("\0"):
                raise ValueError(
                    f"y has the class {name!r}, which ends with a NUL character: NumPy cannot distinguish it from "
                    f"{name.rstrip(chr(0))!r}. Rename it, or remove the character: label.rstrip('\\0')."
                )
        return np.array(["" if value is None else value for value in plain], dtype=str), known
    if kind == "boolean":
        return np.array([bool(value) for value in plain]), known
    if kind != "number":
        raise ValueError(_WRONG_TYPE.format(kind))
    if any(isinstance(value, float) and not np.isfinite(value) for value in given):
        raise ValueError(_INFINITE_LABEL)
    if any(value != int(value) for value in given):
        check_classification_targets(np.array(given, dtype=np.float64))
    return _integers([0 if value is None else int(value) for value in plain]), known


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    return "number" if isinstance(value, Real) else type(value).__name__


def _integers(values: list[int]) -> NDArray[np.int64]:
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        raise ValueError(
            "y has an integer beyond 64 bits as a class. Give such classes as strings, with None where unlabelled."
        ) from None


def with_two_classes(labels: Labels, *, warn: bool = True) -> Labels:
    """Return the labels with -1 as a class if -1 and 1 are the only values.

    With `warn`, warn of it, unless None or NaN marks unlabelled samples, which settles the meaning of -1.
    """
    if not labels.are_plus_and_minus_one():
        return labels
    with_minus_one = labels.with_class_minus_one()
    if warn and with_minus_one.known.all():
        warnings.warn(
            "y holds -1 and 1 only, which are treated as two classes. If -1 means unlabelled here, write None or "
            "NaN instead.",
            UserWarning,
            stacklevel=4,
        )
    return with_minus_one


def read_stream_labels(table: Table, y: Any, classes: Any, known: ClassTable) -> tuple[Labels, Labels | None]:
    """Return the labels and the declared `classes` of a `partial_fit`, given the classes known already."""
    declared = None
    if classes is not None:
        announced = np.atleast_1d(np.asarray(classes, dtype=object)) if np.isscalar(classes) else classes
        declared = read_labels(announced, len(announced)).with_class_minus_one()
        known = known.declaring(declared)
    return Labels.none(len(table)) if y is None else read_labels(y, len(table), classes=known), declared


class Beside(NamedTuple):
    """Arrays that the user gives beside the labels, one value per sample; None where not given."""

    groups: Any = None
    sample_weight: Any = None
    answers: Any = None
    at_random: Any = None


NOTHING_BESIDE = Beside()


def with_arrays(table: Table, labels: Labels, beside: Beside) -> tuple[Table, Labels]:
    """Attach the arrays that the user gives beside the labels, and drop samples of weight 0."""
    if beside.groups is not None:
        labels = replace(labels, groups=group_keys(beside.groups, labels.known))
    if beside.answers is not None:
        labels = replace(labels, answers=group_keys(beside.answers))
    if beside.at_random is not None:
        labels = replace(labels, at_random=_read_at_random(beside.at_random, labels.known))
    if beside.sample_weight is None:
        return table, labels
    weights = read_sample_weight(beside.sample_weight, labels.known)
    labels = replace(labels, weights=weights)
    kept = weights > 0
    return (table, labels) if kept.all() else (table[kept], labels[kept])


def _read_at_random(at_random: Any, known: BoolArray) -> BoolArray:
    mask = np.asarray(at_random)
    if mask.dtype != bool or mask.shape != known.shape:
        raise ValueError(
            f"at_random must be a mask of {len(known)} booleans, True where a sample was drawn at random to be "
            f"labelled, got an array of {mask.dtype} of shape {mask.shape}."
        )
    return mask


def group_names(groups: Any, known: BoolArray) -> list[Any]:
    """Return the name of each sample's group as a plain value; None where an unlabelled sample has none."""
    array = np.asarray(without_mask(groups), dtype=object)
    check_consistent_length(known, array)
    names = [plain_value(value) for value in column_or_1d(array, dtype=object)]
    n_missing = sum(name is None for name, labelled in zip(names, known.tolist(), strict=True) if labelled)
    if n_missing:
        raise ValueError(
            f"groups is missing (None or NaN) for {n_missing} labelled sample(s). Name their group, or give each a "
            "name of its own."
        )
    return names


def group_keys(groups: Any, known: BoolArray | None = None) -> IntArray:
    """Return a hash of each sample's group name, the same in every call; `NO_GROUP` where a sample has none.

    `known`: mask of samples that must have a group; None: any may have none.
    A model stores hashes instead of the names, which may be personal data.
    """

    def key(name: Any) -> int:
        if name is None:
            return NO_GROUP
        if isinstance(name, float) and name.is_integer():
            name = int(name)
        digest = blake2b(f"{type(name).__name__}:{name}".encode(), digest_size=8).digest()
        return int.from_bytes(digest, "little", signed=True) or 1

    needed = np.zeros(len(groups), dtype=bool) if known is None else known
    return np.array([key(name) for name in group_names(groups, needed)], dtype=np.int64)


def read_sample_weight(sample_weight: Any, known: BoolArray) -> FloatArray:
    """Validate sample weights."""
    try:
        weights = np.asarray(without_mask(sample_weight), dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("sample_weight must be numbers, one per sample.") from None
    if weights.ndim != 1:
        raise ValueError(f"sample_weight must have one dimension, got an array of shape {weights.shape}.")
    check_consistent_length(weights, known)
    if not ((weights == 0) | ((weights >= MIN_WEIGHT) & (weights <= MAX_WEIGHT))).all():
        raise ValueError(
            f"sample_weight must be finite numbers from 0 up, and those above 0 from {MIN_WEIGHT:g} to {MAX_WEIGHT:g}."
        )
    if not weights[known].any():
        raise ValueError("sample_weight is zero for every labelled sample: give some of them a weight above zero.")
    return weights


class Presentations:
    """Row order in which boxes learn a table: rows with repeats, in succession.

    Parameters
    ----------
    times : array of int of length n_rows, or None
        Number of presentations of each row, at least one; None: one each.
    """

    def __init__(self, times: IntArray | None) -> None:
        self._starts: IntArray | None = None
        self.rows: slice | IntArray = slice(None)
        self.first: slice | IntArray = slice(None)
        if times is not None and (times > 1).any():
            self._starts = np.append(0, np.cumsum(times))
            self.rows, self.first = np.repeat(np.arange(len(times)), times), self._starts[:-1]

    def of(self, rows: slice) -> slice:
        """Return the slice of presentations of a slice of rows."""
        if self._starts is None:
            return rows
        return slice(int(self._starts[rows.start or 0]), int(self._starts[rows.stop]))


@dataclass(frozen=True)
class ClassTable(CachesValues):
    """The classes that a model knows: ART_b of the paper with ρ_b = 1, in which every class is a category of its own.

    Attributes
    ----------
    seen : tuple of labels
        Classes in the order in which they were first learnt; the code of a class is its index here.
    declared : tuple of labels
        Classes declared by `partial_fit(classes=...)`, learnt or not.
    """

    seen: tuple[Label, ...] = ()
    declared: tuple[Label, ...] = ()

    def declaring(self, labels: Labels) -> ClassTable:
        """Return the table with further declared classes."""
        new = tuple(labels.values[labels.known].tolist())
        return ClassTable(self.seen, tuple(dict.fromkeys(self.declared + new)))._checked()

    def learning(self, labels: Labels) -> ClassTable:
        """Add the classes of further samples, in the order of the samples."""
        given = labels.values[labels.known]
        if len(given) > FEW:
            values, first = np.unique(given, return_index=True)
            given = values[np.argsort(first)]
        new = tuple(label for label in dict.fromkeys(given.tolist()) if label not in self._code_of)
        return ClassTable(self.seen + new, self.declared)._checked() if new else self

    def _checked(self) -> ClassTable:
        kinds = {type(label).__name__ for label in self.seen + self.declared}
        if len(kinds) > 1:
            raise ValueError(
                f"Classes of several kinds: {', '.join(sorted(kinds))}. The labels of one model are all integers, "
                "all strings or all booleans: convert the new ones to the kind used before."
            )
        return self

    def check_kind(self, labels: Labels) -> None:
        """Raise a ValueError if labels are of another type than the classes."""
        if labels.known.any():
            self.declaring(labels[np.flatnonzero(labels.known)[:1]])

    @classmethod
    def joined(cls, tables: Sequence[ClassTable]) -> ClassTable:
        """Return the table of the classes of several models, sorted, so that their order does not matter."""
        seen, declared = (
            {label for table in tables for label in getattr(table, name)} for name in ("seen", "declared")
        )
        both = cls(tuple(seen), tuple(declared))._checked()
        if both.has_minus_one():
            for table in tables:
                if not table.has_minus_one() and {*table.seen, *table.declared} - {1}:
                    raise ValueError(
                        "-1 is a class in one part of the data and means unlabelled in another. Write None or NaN for "
                        "unlabelled samples in all of them, or name the classes: partial_fit(X, y, classes=...)."
                    )
        return cls(tuple(sorted(seen)), tuple(sorted(declared)))

    def first(self, n: int) -> ClassTable:
        """Return the table with the first n classes that were learnt."""
        return self if n == len(self.seen) else ClassTable(self.seen[:n], self.declared)

    def has_minus_one(self) -> bool:
        """Return True if -1 is a class, so that it does not mean unlabelled."""
        return self._has_minus_one

    def code_of(self, label: Label) -> int | None:
        """Return the code of a class; None where it has not been learnt, or the classes are of another type."""
        return self._code_of.get(label) if self.seen and type(self.seen[0]) is type(label) else None

    def codes(self, labels: Labels) -> IntArray:
        """Return the code of each sample's class, -1 where it is unlabelled or not in the table."""
        codes, code_of = np.full(len(labels.known), UNLABELLED, dtype=np.int64), self._code_of
        given = labels.values[labels.known]
        if len(given) > FEW:
            values, inverse = np.unique(given, return_inverse=True)
            codes[labels.known] = np.array([code_of.get(label, UNLABELLED) for label in values.tolist()])[inverse]
        elif len(given):
            codes[labels.known] = [code_of.get(label, UNLABELLED) for label in given.tolist()]
        return codes

    def codes_in(self, other: ClassTable) -> IntArray:
        """Map the codes of this table to those of another one, which must have all classes."""
        return np.array([other._code_of[label] for label in self.seen], dtype=np.int64)

    def indices(self, codes: IntArray) -> IntArray:
        """Return the index in `classes` of each class code, -1 where the code is -1."""
        return self._class_of_code_or_none[codes]

    def by_class(self, values: NDArray[Any], fill: float = 0) -> NDArray[Any]:
        """Reorder columns by class code to columns by sorted class; `fill` for classes not learnt."""
        if len(self.seen) == len(self.classes):
            return np.asarray(values[:, self._code_of_class])
        every = np.full((len(values), len(self.classes)), fill, dtype=values.dtype)
        every[:, self._class_of_code] = values
        return every

    def with_unseen(self, values: NDArray[Any], fill: float = 0) -> NDArray[Any]:
        """Insert columns of `fill` for classes that are declared but not learnt."""
        if len(self.seen) == len(self.classes):
            return values
        every = np.full((len(values), len(self.classes)), fill, dtype=values.dtype)
        every[:, np.sort(self._class_of_code)] = values
        return every

    def sorted_codes(self) -> IntArray:
        """Return the index in `classes` of each code."""
        return self._class_of_code

    def order_of_seen(self) -> IntArray:
        """Return the index of each code among the learnt classes, sorted."""
        return self._order_of_seen

    def to_state(self) -> dict[str, Any]:
        """Return the state to save: plain values."""
        return {"seen": list(self.seen), "declared": list(self.declared)}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> ClassTable:
        """Restore the table from a saved state after validating it."""
        table = cls(tuple(state["seen"]), tuple(state["declared"]))
        labels = table.seen + table.declared
        kinds = {type(label) for label in labels}
        fits = (
            len(kinds) <= 1
            and kinds <= {int, bool, str}
            and all(len(set(ones)) == len(ones) for ones in (table.seen, table.declared))
            and all(-(2**63) <= label < 2**63 for label in labels if isinstance(label, int))
            and not any(label.endswith("\0") for label in labels if isinstance(label, str))
        )
        if not fits:
            raise ValueError("the classes of the model are not classes")
        return table

    @cached_property
    def classes(self) -> NDArray[Any]:
        """All classes, sorted, as users of scikit-learn expect them."""
        classes = np.array(sorted({*self.seen, *self.declared}))
        classes.setflags(write=False)
        return classes

    @cached_property
    def _has_minus_one(self) -> bool:
        return UNLABELLED in self.seen or UNLABELLED in self.declared

    @cached_property
    def _code_of(self) -> dict[Label, int]:
        return {label: code for code, label in enumerate(self.seen)}

    @cached_property
    def _class_of_code(self) -> IntArray:
        place = {label: position for position, label in enumerate(self.classes.tolist())}
        return np.array([place[label] for label in self.seen], dtype=np.int64)

    @cached_property
    def _order_of_seen(self) -> IntArray:
        return np.argsort(np.argsort(self._class_of_code))

    @cached_property
    def _class_of_code_or_none(self) -> IntArray:
        return np.append(self._class_of_code, UNLABELLED)

    @cached_property
    def _code_of_class(self) -> IntArray:
        """The code of each class, where all classes have been learnt."""
        return np.argsort(self._class_of_code)


def check_has_label(table: ClassTable) -> None:
    """Raise a NotFittedError if no labelled sample has been learnt."""
    if not table.seen:
        raise NotFittedError(
            "No labelled sample has been learnt yet, so there is no class to predict. Call partial_fit(X, y) with at "
            "least one label first; score_samples works without."
        )
