"""A table whose names, categories, classes and cells try to act: on a terminal, a page, a spreadsheet, a program."""

from __future__ import annotations

import unicodedata

import numpy as np
import pandas as pd

FEATURES = (
    "\x1b[31mred\x1b[0m",  # colours
    "\x1b]0;title\x07",  # the title of the window, and a bell
    "ok\rEVIL\x08\x08",  # goes back and overwrites
    "\x9b2J\x7f",  # the same in C1 controls
    "\u202egnp.exe\u2066\u2069",  # the direction of writing
    "two\nlines\u2028three",
    "[red]markup[/red]",
    "<script>alert(1)</script>",
    "=cmd|' /C calc'!A0",
    '"; import os; os.abort()  #',
    "$\\frac{1}{$ \\$",
)
CATEGORIES = ("'; DROP TABLE t; --", "a\u200bb\ufeff", "\x1b[2J|`x`", "@SUM(1+1)\n=1+1", "{{ 7 * 7 }}<!-- --><b>")
CLASSES = ("-1", "+ve\x1b[1m", "=1+1\nthen [b]x[/b]", "*x* <img src=x onerror=alert(1)>")
CATEGORICAL, LABEL, NAME, GROUP = "kind\x1b[0m\u200f", "=label\x07", "-id\x85", "@group\t"
VISIBLE_BLANKS = ("\N{NO-BREAK SPACE}", "\N{IDEOGRAPHIC SPACE}")


def acting(text: str, allowed: str = "\n") -> set[str]:
    """Return the characters of a text that are not shown but act, or hide."""
    hidden = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    return {one for one in set(text) - set(allowed) if unicodedata.category(one) in hidden}


def hostile_table(n_rows: int = 48) -> tuple[pd.DataFrame, np.ndarray]:
    """Return samples and their classes, None where not known; every class depends on several features."""
    random = np.random.default_rng(0)
    codes = np.arange(n_rows) % len(CLASSES)
    values = random.normal(size=(n_rows, len(FEATURES))).round(2) + 1.5 * codes[:, None]
    frame = pd.DataFrame(values, columns=list(FEATURES))
    frame[CATEGORICAL] = [CATEGORIES[(code + int(random.integers(2))) % len(CATEGORIES)] for code in codes]
    y = np.array(CLASSES, dtype=object)[codes]
    y[n_rows // 2 :] = None
    return frame, y
