"""Pages in Markdown: their examples, run one after the other, and what they print."""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
from typing import Any, NamedTuple
from unittest import mock

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECONDS = re.compile(r"\d+\.\d+ s\b")  # how long something took
LONG = re.compile(r"(\d\.\d{4})\d\d\b")  # six decimals, of which LAPACK promises fewer


class Example(NamedTuple):
    """A block of Python, or of `sslart` commands, and the block of text right after it, if there is one."""

    language: str
    code: str
    shown: str
    line: int


def examples_of(text: str) -> list[Example]:
    """Return the examples of a page: all its Python, and the `sslart` commands whose output it shows."""
    blocks = list(FENCE.finditer(text))
    found = []
    for place, block in enumerate(blocks):
        language, code = block.groups()
        after = blocks[place + 1] if place + 1 < len(blocks) else None
        is_shown = after is not None and after[1] == "text" and not text[block.end() : after.start()].strip()
        shown = after[2] if after is not None and is_shown else ""
        if language == "python" or (language == "sh" and is_shown):
            found.append(Example(language, code, shown, text.count("\n", 0, block.start()) + 1))
    return found


def printed_by(example: Example, namespace: dict[str, Any], page: str) -> str:
    """Run an example and return what it prints."""
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="", write_through=True)
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        if example.language == "python":
            # line numbers of the page in a traceback
            exec(compile("\n" * example.line + example.code, page, "exec"), namespace)
        else:
            run_commands(example.code)
    printed.seek(0)
    return printed.read()


def run_commands(code: str) -> None:
    from sslart.cli import main

    for line in code.replace("\\\n", " ").strip().splitlines():
        command, *words = shlex.split(line, comments=True)
        assert command == "sslart", line
        with mock.patch("sys.stdin", io.StringIO()):  # an empty standard input
            assert main(words) == 0, line


def agrees(shown: str, printed: str) -> bool:
    """Return True if a page shows the printed text; in `shown`, ... stands for anything."""
    return doctest.OutputChecker().check_output(_plain(shown), _plain(printed), doctest.ELLIPSIS)


def _plain(text: str) -> str:
    text = LONG.sub(r"\1", SECONDS.sub("# s", text))
    return "".join(line.rstrip() + "\n" for line in text.strip().splitlines())
