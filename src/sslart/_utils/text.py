"""Numbers and lists as text that a person reads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

SHOWN = 5


def number_text(value: Any, digits: int = 4) -> str:
    """Return a value as a reader wants it: numbers rounded, categories as given.

    Examples
    --------
    >>> from sslart._utils.text import number_text
    >>> number_text(3.14159), number_text(20000.0), number_text("red"), number_text(None)
    ('3.142', '20000', 'red', 'missing')
    """
    if value is None:
        return "missing"
    if isinstance(value, bool | str):
        return str(value)
    if abs(value) < 10**15 and float(value).is_integer():
        return str(int(value))
    whole_digits = math.floor(math.log10(abs(value))) + 1 if value else 1
    return f"{value:.{max(digits, min(whole_digits, 15))}g}"


def category_text(value: Any) -> str:
    """Return a category as it stands among the words of a sentence: in quotes where it could be taken for these words.

    Examples
    --------
    >>> from sslart._utils.text import category_text
    >>> category_text("red"), category_text("brown, grey"), category_text("missing"), category_text(True)
    ('red', "'brown, grey'", "'missing'", 'True')
    """
    if not isinstance(value, str):
        return str(value).removesuffix(".0")
    is_clear = value.isprintable() and value == value.strip() and value not in ("", "missing", "known")
    has_words = value.startswith(("not ", "'", '"')) or "," in value or " or " in value
    return value if is_clear and not has_words else repr(value)


def list_text(parts: Sequence[str], most: int = SHOWN) -> str:
    """Return a list in one line; how many more there are, if it is long.

    Examples
    --------
    >>> from sslart._utils.text import list_text
    >>> list_text(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    rest = len(parts) - most
    return ", ".join(parts[:most]) + (f" and {rest} more" if rest > 0 else "")


def plural(n: int, noun: str) -> str:
    """Return a number of things.

    Examples
    --------
    >>> from sslart._utils.text import plural
    >>> plural(1, "box"), plural(3, "box"), plural(2, "sample")
    ('1 box', '3 boxes', '2 samples')
    """
    ending = "" if n == 1 else "es" if noun.endswith(("x", "s")) else "s"
    return f"{n} {noun}{ending}"
