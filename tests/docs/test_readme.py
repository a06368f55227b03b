"""The example of the README prints what the README shows."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

from pages import examples_of, printed_by

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"


def test_example_prints_what_the_readme_shows() -> None:
    (example,) = examples_of(README.read_text())
    assert len([line for line in example.code.splitlines() if line]) <= 10
    assert printed_by(example, {}, "README.md") == example.shown


def test_the_page_on_explanations_shows_what_its_examples_print() -> None:
    shown = re.findall(r"```text\n(.*?)```", (ROOT / "docs" / "explanations.md").read_text(), re.DOTALL)
    for example, expected in zip(("explanations.py", "evidence.py"), shown, strict=True):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile((ROOT / "examples" / example).read_text(), example, "exec"), {})
        assert printed.getvalue() == expected
