"""The README tells the truth: its example prints what it says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def test_example_prints_what_the_readme_says() -> None:
    text = README.read_text()
    (example,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    expected = re.findall(r"```text\n(.*?)```", text, re.DOTALL)[0]
    assert len([line for line in example.splitlines() if line]) <= 10
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(example, "README.md", "exec"), {})
    assert printed.getvalue() == expected
