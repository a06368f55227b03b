"""The option --encoding of the command line."""

from __future__ import annotations

from typing import Annotated

import typer

ENCODING_HELP = "of text, such as utf-16, cp1252 or cp1251; found out if not given"
EncodingOption = Annotated[str | None, typer.Option("--encoding", help=ENCODING_HELP, metavar="NAME")]
