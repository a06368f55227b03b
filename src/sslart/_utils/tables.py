"""Tables as Markdown, HTML and CSV: names and cells of the user never act as markup or as formulas."""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sslart._utils.text import printable

MARK = "'"  # before a cell it stands for text in every spreadsheet
_HIDDEN = r"[\x00-\x08\x0b\x0c\x0e-\x20\x7f-\xa0\xad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]*"
_NUMBER = r"[+-](?:\d+(?:[.,]\d+)*[.,]?|[.,]\d+)(?:[eE][+-]?\d+)?\s?%?"
_END = r"(?=[;\t\r\n]|\Z)"
_FORMULA = rf"{_HIDDEN}(?:[=@＝＠]|(?!(?:{_NUMBER}|[+-]+){_END})[+\-＋－])"
# A cell may be cut by a spreadsheet that separates cells by something else than this file does.
_CUT = re.compile(r"[;\t\r\n]")
_START = r"(?:\A|(?<=[;\t\r\n]))"
_UNMARKED = re.compile(rf"(?:{_START}(?='*{_FORMULA})|\A(?='*[\t\r\n]))")
_MARKED = re.compile(rf"(?:{_START}'(?='*{_FORMULA})|\A'(?='*[\t\r\n]))")

# A lone underscore inside a word, and a less-than sign before a blank, are no markup and stay readable.
_MARKUP = re.compile(r"[\\`*\[\]~|$]|<(?=[A-Za-z/!?])|&(?=[#\w])|(?<![^\W_])_|_(?![^\W_])")


def escape(text: str) -> str:
    r"""Return a text for HTML, between tags or as the value of an attribute in quotes, every character visible.

    Examples
    --------
    >>> from sslart._utils.tables import escape
    >>> print(escape("<b>\x07"))
    &lt;b&gt;\x07
    """
    return html.escape(printable(text))


def markdown_text(text: str) -> str:
    r"""Return a text escaped for Markdown, in one line, with every character visible.

    Examples
    --------
    >>> from sslart._utils.tables import markdown_text
    >>> print(markdown_text("petal_width < 2"), markdown_text("<b> *x* [y](z)"))
    petal_width < 2 \<b> \*x\* \[y\](z)
    """
    return _MARKUP.sub(r"\\\g<0>", printable(text))


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], *, plain: bool = False) -> str:
    r"""Return a table in Markdown, without a line break at its end.

    Parameters
    ----------
    head : sequence of str
        Names of the columns.
    rows : iterable of sequences of str
        Cells as Markdown. Backslashes and bars are escaped, and a line break becomes a space.
    plain : bool, default=False
        Whether names and cells are plain text, of which nothing may act as Markdown or HTML.

    Examples
    --------
    >>> from sslart._utils.tables import markdown_table
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
    """A cell of an HTML table that is more than plain text.

    Attributes
    ----------
    text : str
    title : str
        A text that browsers show while the mouse pointer is over the cell.
    css_class : str
    is_html : bool
        Whether `text` is HTML, which is not escaped.
    """

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
    """Return a table in HTML.

    Parameters
    ----------
    head : sequence of str or Cell
        Names of the columns; empty for a table without a head.
    rows : iterable of sequences of str or Cell
    caption : str
        A text above the table; none if it is empty.
    css_class : str
        Class of the table; none if it is empty.
    row_headers : bool
        Whether the first cell of each row is its header.

    Examples
    --------
    >>> from sslart._utils.tables import Cell, html_table
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

    Examples
    --------
    >>> from sslart._utils.tables import as_text_cell
    >>> [as_text_cell(text) for text in ("=1+1", "-1", "+5", "-", "-low", "a;=b", "x=1")]
    ["'=1+1", '-1', '+5', '-', "'-low", "a;'=b", 'x=1']
    """
    is_plain = text[:1].isalnum() and not _CUT.search(text)
    return text if is_plain else _UNMARKED.sub(MARK, text)


def of_text_cell(text: str) -> str:
    """Return the text that `as_text_cell` was given.

    Examples
    --------
    >>> from sslart._utils.tables import of_text_cell
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

    Examples
    --------
    >>> from sslart._utils.tables import csv_row
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
