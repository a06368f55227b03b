"""The table of classes."""

from __future__ import annotations

import pytest

from sslart._data.labels import ClassTable, read_labels


def read(*values: object):
    return read_labels(list(values))


def test_codes_follow_the_order_of_learning_and_classes_are_sorted() -> None:
    table = ClassTable().learning(read("m", None, "z", "a", "m"))
    assert table.seen == ("m", "z", "a")
    assert table.codes(read("a", None, "m", "unknown")).tolist() == [2, -1, 0, -1]
    assert table.classes.tolist() == ["a", "m", "z"]
    assert table.sorted_codes().tolist() == [1, 2, 0]
    assert table.learning(read("z")) is table


def test_declared_classes_count_as_classes_but_not_as_seen() -> None:
    table = ClassTable().declaring(read(3, 1)).learning(read(2))
    assert table.seen == (2,)
    assert table.classes.tolist() == [1, 2, 3]


def test_kinds_do_not_mix() -> None:
    table = ClassTable().learning(read("a"))
    with pytest.raises(ValueError, match="several kinds: int, str"):
        table.learning(read(1))
    with pytest.raises(ValueError, match="convert"):
        table.declaring(read(True, False))
