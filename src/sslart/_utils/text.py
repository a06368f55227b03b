"""Text that a person reads: names, numbers and lists, and tables as Markdown, HTML and CSV."""

from __future__ import annotations

import csv
import html
import io
import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
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

    >>> print(printable_lines("one\x07\ntwo"))
    one\x07
    two
    """
    return "\n".join(map(printable, text.split("\n")))


def one_line(message: Any) -> str:
    r"""Return an error or a warning in one line, every character visible.

    >>> one_line("No file\n  of this name.")
    'No file of this name.'
    """
    return printable(" ".join(str(message).split()))


def json_text(values: Any, indent: int | None = None) -> str:
    r"""Return plain values as JSON with every character visible; parsing it returns the same values.

    >>> print(json_text({"Größe": "\x9b31m\u202e"}))
    {"Größe": "\u009b31m\u202e"}
    """
    text = json.dumps(values, indent=indent, ensure_ascii=False, allow_nan=False)
    return "\n".join(line if line.isprintable() else "".join(map(_json_visible, line)) for line in text.split("\n"))


def _json_visible(character: str) -> str:
    return character if _visible(character) == character else json.dumps(character)[1:-1]


class Day(float):
    """A number of days since 1970 that is shown as a date, or as a time where it is less than one.

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

    >>> value_text("size", 1.23456), value_text(DateName("bought"), 18690.0)
    ('1.235', '2021-03-04')
    """
    return number_text(value if value is None or not isinstance(feature, DateName) else Day(value), digits)


def distance_text(feature: str, distance: float) -> str:
    """Return a text for the distance between two values of a feature.

    >>> distance_text("size", 1.23456), distance_text(DateName("bought"), 2.0)
    ('1.23', '2 days')
    """
    text = number_text(distance, 3)
    return f"{text} {'day' if text == '1' else 'days'}" if isinstance(feature, DateName) else text


def category_text(value: Any) -> str:
    """Return a category as it stands among the words of a sentence: in quotes where it could be taken for these words.

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

    >>> list_text(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    rest = len(parts) - most
    return ", ".join(parts[:most]) + (f" and {rest} more" if rest > 0 else "")


def listed(names: Sequence[str], most: int = SHOWN) -> str:
    """Return names in quotes, the first few of many.

    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    return list_text([repr(name) for name in names], most)


def count_text(n: float) -> str:
    """Return a number of samples, which is no whole number where they count less as they age.

    >>> count_text(12), count_text(12.04), count_text(3.26), count_text(0.004)
    ('12', '12', '3.3', 'less than 0.1')
    """
    return str(n) if isinstance(n, int) else "less than 0.1" if 0 < n < 0.05 else f"{n:.1f}".removesuffix(".0")


def plural(n: float, noun: str) -> str:
    """Return a number of things.

    >>> plural(1, "box"), plural(3, "box"), plural(2, "sample")
    ('1 box', '3 boxes', '2 samples')
    """
    number = count_text(n)
    ending = "" if number == "1" else "es" if noun.endswith(("x", "s")) else "s"
    return f"{number} {noun}{ending}"


MARK = "'"  # before a cell it stands for text in every spreadsheet
_INVISIBLE = r"[\x00-\x08\x0b\x0c\x0e-\x20\x7f-\xa0\xad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]*"
_NUMBER = r"[+-](?:\d+(?:[.,]\d+)*[.,]?|[.,]\d+)(?:[eE][+-]?\d+)?\s?%?"
_END = r"(?=[;\t\r\n]|\Z)"
_FORMULA = rf"{_INVISIBLE}(?:[=@＝＠]|(?!(?:{_NUMBER}|[+-]+){_END})[+\-＋－])"
# A cell may be cut by a spreadsheet that separates cells by something else than this file does.
_CUT = re.compile(r"[;\t\r\n]")
_START = r"(?:\A|(?<=[;\t\r\n]))"
_UNMARKED = re.compile(rf"(?:{_START}(?='*{_FORMULA})|\A(?='*[\t\r\n]))")
_MARKED = re.compile(rf"(?:{_START}'(?='*{_FORMULA})|\A'(?='*[\t\r\n]))")

# A lone underscore inside a word, and a less-than sign before a blank, are no markup and stay readable.
_MARKUP = re.compile(r"[\\`*\[\]~|$]|<(?=[A-Za-z/!?])|&(?=[#\w])|(?<![^\W_])_|_(?![^\W_])")


def escape(text: str) -> str:
    r"""Return a text for HTML, between tags or as the value of an attribute in quotes, every character visible.

    >>> print(escape("<b>\x07"))
    &lt;b&gt;\x07
    """
    return html.escape(printable(text))


def markdown_text(text: str) -> str:
    r"""Return a text escaped for Markdown, in one line, with every character visible.

    >>> print(markdown_text("petal_width < 2"), markdown_text("<b> *x* [y](z)"))
    petal_width < 2 \<b> \*x\* \[y\](z)
    """
    return _MARKUP.sub(r"\\\g<0>", printable(text))


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], *, plain: bool = False) -> str:
    r"""Return a table in Markdown, without a line break at its end.

    Backslashes and bars of cells are escaped, and a line break becomes a space. With `plain`, names and cells are plain
    text, of which nothing may act as Markdown or HTML.

    >>> print(markdown_table(["data set", "accuracy"], [["iris", "95.3"], ["a|b", "*80.1*"]]))
    | data set | accuracy |
    |---|---|
    | iris | 95.3 |
    | a\|b | *80.1* |
    """
    escaped = markdown_text if plain else _markdown_cell
    lines = ["| " + " | ".join(map(escaped, cells)) + " |" for cells in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def _markdown_cell(cell: str) -> str:
    return cell.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")


@dataclass(frozen=True)
class Cell:
    """A cell of an HTML table that is more than plain text; `title` shows while the mouse pointer is over it."""

    text: str
    title: str = ""
    css_class: str = ""
    is_html: bool = False


def html_table(
    head: Sequence[str | Cell],
    rows: Iterable[Sequence[str | Cell]],
    *,
    caption: str = "",
    css_class: str = "",
    row_headers: bool = False,
) -> str:
    """Return a table in HTML, with a caption above and the first cell of each row as its header where wanted.

    >>> html_table([], [["1 < 2", Cell("3", title="three")]])
    '<table><tbody><tr><td>1 &lt; 2</td><td title="three">3</td></tr></tbody></table>'
    """
    parts = [f"<table{_attribute('class', css_class)}>"]
    if caption:
        parts.append(f"<caption>{escape(caption)}</caption>")
    if head:
        parts.append(f"<thead>{_html_row(head, n_headers=len(head))}</thead>")
    body = "".join(_html_row(row, n_headers=1 if row_headers else 0) for row in rows)
    return "".join([*parts, f"<tbody>{body}</tbody></table>"])


def _html_row(cells: Sequence[str | Cell], n_headers: int) -> str:
    html = (_html_cell("th" if column < n_headers else "td", cell) for column, cell in enumerate(cells))
    return f"<tr>{''.join(html)}</tr>"


def _html_cell(tag: str, cell: str | Cell) -> str:
    whole = Cell(cell) if isinstance(cell, str) else cell
    content = whole.text if whole.is_html else escape(whole.text)
    return f"<{tag}{_attribute('class', whole.css_class)}{_attribute('title', whole.title)}>{content}</{tag}>"


def _attribute(name: str, value: str) -> str:
    return f' {name}="{escape(value)}"' if value else ""


def as_text_cell(text: str) -> str:
    """Return the text of a cell such that no spreadsheet takes it for a formula.

    An apostrophe comes before a cell that begins with one of ``= + - @``, a tab or a line break, and inside a cell
    where a spreadsheet that cuts lines at semicolons or tabs would see such a beginning. Numbers and single signs stay
    as they are. `of_text_cell` gives back the text.

    >>> [as_text_cell(text) for text in ("=1+1", "-1", "+5", "-", "-low", "a;=b", "x=1")]
    ["'=1+1", '-1', '+5', '-', "'-low", "a;'=b", 'x=1']
    """
    is_plain = text[:1].isalnum() and not _CUT.search(text)
    return text if is_plain else _UNMARKED.sub(MARK, text)


def of_text_cell(text: str) -> str:
    """Return the text that `as_text_cell` was given.

    >>> [of_text_cell(text) for text in ("'=1+1", "-1", "a;'=b", "'quoted'")]
    ['=1+1', '-1', 'a;=b', "'quoted'"]
    """
    return _MARKED.sub("", text) if MARK in text else text


def with_texts(frame: Any, change: Callable[[str], str]) -> Any:
    """Return a frame with all its texts changed: those of its cells, and the names of its columns."""
    changed = frame.rename(columns=lambda name: change(str(name)))
    for place, kind in enumerate(frame.dtypes):
        if kind.kind not in "biufc":
            column = frame.iloc[:, place]
            cells = column.tolist()
            known = {cell for cell in cells if isinstance(cell, str)}
            texts = {cell: text for cell in known if (text := change(cell)) != cell}
            if texts:
                new = [texts.get(cell, cell) if isinstance(cell, str) else cell for cell in cells]
                new = type(column)(new, column.index, dtype=object)
                changed.isetitem(place, new)
    return changed


def csv_row(cells: Iterable[Any]) -> str:
    r"""Return one line of CSV, in which no text is a formula.

    >>> csv_row([-1, "a, b", "=1+1", "-2"])
    '-1,"a, b",\'=1+1,-2\n'
    """
    texts = [as_text_cell(cell) if isinstance(cell, str) else cell for cell in cells]
    has_return = any("\r" in str(text) for text in texts)
    line = io.StringIO()
    options: Any = {"quoting": csv.QUOTE_NONNUMERIC} if has_return else {}
    csv.writer(line, lineterminator="\n", **options).writerow(texts)
    return line.getvalue()


def csv_text(frame: Any, *, keep_formulas: bool = False, **options: Any) -> str:
    """Return a frame as CSV, with lines that end as on Unix; other options are those of `DataFrame.to_csv`."""
    safe = frame if keep_formulas else with_texts(frame, as_text_cell)
    text = str(safe.to_csv(lineterminator="\n", **options))
    if "\r" in text:  # which pandas leaves without quotes, though readers take it for the end of a line
        return str(safe.to_csv(lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC, **options))
    return text
