"""Undo restores the question, also for a named person, for whom the service repeats each label."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from acting import shown, told
from opened import Opened, studio, wait_for
from service import fit_flowers


@pytest.fixture
def opened(tmp_path_factory: pytest.TempPathFactory, browser: Any) -> Iterator[Opened]:
    """Return a studio with the iris data."""
    with studio(tmp_path_factory.mktemp("studio"), browser) as found:
        fit_flowers(found.http)
        yield found


@pytest.mark.slow
def test_the_question_comes_back_and_stays(opened: Opened) -> None:
    page = opened.page("flowers/label")
    page.evaluate("localStorage.setItem('sslart.person', 'Anna')")
    page.reload()
    shown(page)
    asked = page.locator(".question-head p").first
    first = asked.inner_text()
    page.keyboard.press("1")
    wait_for(lambda: bool(asked.inner_text() != first))
    told(page, "Your answer for")
    with page.expect_response(lambda answer: answer.url.split("?")[0].endswith("/labels")):
        page.keyboard.press("u")
    wait_for(lambda: bool(asked.inner_text() == first))
    page.wait_for_timeout(500)  # by now the service has told that the label was withdrawn
    assert asked.inner_text() == first
    assert page.locator(".meanwhile").count() == 0
    page.close()
