"""The guide page on clusters shows the code of the examples for Spark and Ray as it is."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "guide" / "clusters.md"


@pytest.mark.parametrize(("heading", "script"), [("Spark", "spark_fit.py"), ("Ray", "ray_fit.py")])
def test_the_page_shows_the_code_of_the_example(heading: str, script: str) -> None:
    section = PAGE.read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    blocks = re.findall(r"(?:^ {4}.*\n|^\n(?= {4}))+", section, re.MULTILINE)
    functions = [code for code in map(textwrap.dedent, blocks) if "def " in code]
    source = (ROOT / "examples" / "clusters" / script).read_text(encoding="utf-8")
    assert any("def fit(" in code for code in functions)
    for code in functions:
        for function in re.split(r"\n\n+(?=@|def )", code):
            assert function.strip() in source
