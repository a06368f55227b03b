"""Notes reach whoever collects them, and standard error where nobody does."""

from __future__ import annotations

import threading
from contextlib import suppress

import pytest

from sslart._utils.notes import collected_notes, forget_notes, note

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _no_notes_yet() -> None:
    forget_notes()


def test_notes_are_collected_once_each_and_not_printed(capsys: Captured) -> None:
    with collected_notes() as notes:
        for text in ("one", "two", "one"):
            note(text)
    assert notes == ["one", "two"]
    assert capsys.readouterr() == ("", "")


def test_notes_are_printed_once_until_they_are_forgotten(capsys: Captured) -> None:
    for _ in range(2):
        note("one")
    assert capsys.readouterr() == ("", "sslart: note: one\n")
    forget_notes()
    note("one")
    assert capsys.readouterr().err == "sslart: note: one\n"


def test_no_character_of_a_printed_note_acts_on_the_terminal(capsys: Captured) -> None:
    note("a\x1b[31m\nb")
    assert capsys.readouterr().err == "sslart: note: a\\x1b[31m\\nb\n"


def test_notes_go_where_they_went_before_when_collecting_ends(capsys: Captured) -> None:
    with collected_notes() as outer:
        with suppress(KeyError), collected_notes() as inner:
            note("one")
            raise KeyError
        note("two")
    note("one")
    assert (inner, outer) == (["one"], ["two"])
    assert capsys.readouterr().err == "sslart: note: one\n", "a note that was collected was not printed before"


def test_threads_collect_only_their_own_notes() -> None:
    together, collected = threading.Barrier(4), {}

    def work(number: int) -> None:
        with collected_notes() as notes:
            together.wait(10)
            note(f"of {number}")
            together.wait(10)
        collected[number] = notes

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert collected == {number: [f"of {number}"] for number in range(4)}
