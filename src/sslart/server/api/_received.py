"""Uploaded files: written to disk while they are received, and removed after the request."""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

from fastapi import Request

from sslart.server.api._context import Context
from sslart.server.api._errors import ApiError

FILE: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "a table as CSV, TSV, Parquet, Arrow or Excel, or a model that sslart.save wrote",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@asynccontextmanager
async def received(context: Context, request: Request, digest: blake2b) -> AsyncIterator[Path]:
    """Write the body of a request to a file, which is removed at the end, and add it to a checksum."""
    folder = context.upload_folder
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=folder)
        path = Path(name)
    except OSError as error:
        raise ApiError(503, f"The upload cannot be written: {error.strerror}.") from error
    try:
        try:
            with os.fdopen(descriptor, "wb") as file:
                async for part in request.stream():
                    file.write(part)
                    digest.update(part)
        except TimeoutError:
            raise
        except OSError as error:  # also of the last bytes, which are written when the file is closed
            raise ApiError(507, f"The upload cannot be written: {error.strerror}.") from error
        yield path
    finally:
        path.unlink(missing_ok=True)


@contextmanager
def called_the_file(path: Path) -> Iterator[None]:
    """Let errors call a file that was received "the file"."""
    try:
        yield
    except ValueError as error:
        words = str(error).replace(str(path), "the file")
        raise ValueError(words[:1].upper() + words[1:]) from error
