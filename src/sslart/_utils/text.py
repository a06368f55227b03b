"""Names, numbers and lists as text that a person reads, on a terminal, in a log or on a page."""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

SHOWN = 5
MAX_SECONDS = 50_000_000_000  # from 1970: dates end with the year 9999
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})  # Unicode: control, format, surrogate, line, paragraph


def printable(value: Any) -> str:
    r"""Return a name, class or cell of the user as text that is safe to show: one line, every character visible.

    A table may hold characters that act on a terminal or hide part of a line. Control characters, line breaks, tabs,
    marks of the direction of writing, characters without width and halves of surrogate pairs are written as Python
    writes them in a string, such as ``\x1b``. All other characters, blanks of any width among them, stay as they are.

    Examples
    --------
    >>> from sslart._utils.text import printable
    >>> print(printable("Größe"), printable("\x1b[31mred\n"), printable("a\u202eb"), printable(3))
    Größe \x1b[31mred\n a\u202eb 3
    """
    text = str(value)
    return text if text.isprintable() else "".join(map(_visible, text))


def _visible(character: str) -> str:
    if unicodedata.category(character) not in _HIDDEN:
        return character
    return character.encode("unicode_escape").decode("ascii")


def printable_lines(text: str) -> str:
    r"""Return a text of several lines, each as by `printable`.

    Examples
    --------
    >>> from sslart._utils.text import printable_lines
    >>> print(printable_lines("one\x07\ntwo"))
    one\x07
    two
    """
    return "\n".join(map(printable, text.split("\n")))


def one_line(message: Any) -> str:
    r"""Return an error or a warning in one line, every character visible.

    Examples
    --------
    >>> from sslart._utils.text import one_line
    >>> one_line("No file\n  of this name.")
    'No file of this name.'
    """
    return printable(" ".join(str(message).split()))


def json_text(values: Any, indent: int | None = None) -> str:
    r"""Return plain values as JSON with every character visible; parsing it returns the same values.

    Examples
    --------
    >>> from sslart._utils.text import json_text
    >>> print(json_text({"Größe": "\x9b31m\u202e"}))
    {"Größe": "\u009b31m\u202e"}
    """
    text = json.dumps(values, indent=indent, ensure_ascii=False, allow_nan=False)
    return "\n".join(line if line.isprintable() else "".join(map(_json_visible, line)) for line in text.split("\n"))


def _json_visible(character: str) -> str:
    return character if _visible(character) == character else json.dumps(character)[1:-1]


class Day(float):
    """A number of days since 1970 that is shown as a date, or as a time where it is less than one.

    Examples
    --------
    >>> from sslart._utils.text import Day
    >>> str(Day(18690)), str(Day(18690.75)), str(Day(0.5))
    ('2021-03-04', '2021-03-04 18:00', '12:00')
    """

    def __str__(self) -> str:
        seconds = round(86_400 * float(self))
        if abs(seconds) > MAX_SECONDS:
            return f"{float(self):g} days since 1970"
        moment = datetime(1970, 1, 1) + timedelta(seconds=seconds)
        clock = f"{moment:%H:%M:%S}".removesuffix(":00")
        if 0 < seconds < 86_400:
            return clock
        return moment.date().isoformat() + (f" {clock}" if seconds % 86_400 else "")


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
    if isinstance(value, bool | str | Day):
        return printable(value)
    if abs(value) < 10**15 and float(value).is_integer():
        return str(int(value))
    whole_digits = math.floor(math.log10(abs(value))) + 1 if value else 1
    return f"{value:.{max(digits, min(whole_digits, 15))}g}"


class DateName(str):
    """The name of a column that holds dates: its values are numbers of days since 1970."""


class DatePart(str):
    """Name of a feature derived from a column of dates, such as the weekday."""


def value_text(feature: str, value: Any, digits: int = 4) -> str:
    """Return the value of a feature as a reader wants it: a date where the feature holds dates.

    Examples
    --------
    >>> from sslart._utils.text import DateName, value_text
    >>> value_text("size", 1.23456), value_text(DateName("bought"), 18690.0)
    ('1.235', '2021-03-04')
    """
    return number_text(value if value is None or not isinstance(feature, DateName) else Day(value), digits)


def distance_text(feature: str, distance: float) -> str:
    """Return a text for the distance between two values of a feature.

    Examples
    --------
    >>> from sslart._utils.text import DateName, distance_text
    >>> distance_text("size", 1.23456), distance_text(DateName("bought"), 2.0)
    ('1.23', '2 days')
    """
    text = number_text(distance, 3)
    return f"{text} {'day' if text == '1' else 'days'}" if isinstance(feature, DateName) else text


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


def listed(names: Sequence[str], most: int = SHOWN) -> str:
    """Return names in quotes, the first few of many.

    Examples
    --------
    >>> from sslart._utils.text import listed
    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    return list_text([repr(name) for name in names], most)


def count_text(n: float) -> str:
    """Return a number of samples, which is no whole number where they count less as they age.

    Examples
    --------
    >>> from sslart._utils.text import count_text
    >>> count_text(12), count_text(12.04), count_text(3.26), count_text(0.004)
    ('12', '12', '3.3', 'less than 0.1')
    """
    return str(n) if isinstance(n, int) else "less than 0.1" if 0 < n < 0.05 else f"{n:.1f}".removesuffix(".0")


def plural(n: float, noun: str) -> str:
    """Return a number of things.

    Examples
    --------
    >>> from sslart._utils.text import plural
    >>> plural(1, "box"), plural(3, "box"), plural(2, "sample")
    ('1 box', '3 boxes', '2 samples')
    """
    number = count_text(n)
    ending = "" if number == "1" else "es" if noun.endswith(("x", "s")) else "s"
    return f"{number} {noun}{ending}"
