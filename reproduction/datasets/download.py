"""Resumable download of a file."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sslart._utils.optional import optional

_CHUNK = 1 << 16
_TIMEOUT = (10, 60)  # seconds to connect, seconds without a byte


class DownloadError(OSError):
    """A file did not come; the message is the reason, without the address."""


def download(url: str, target: Path, sha256: str | None) -> None:
    """Bring a file to its place, whole and checked or not at all.

    Raises
    ------
    DownloadError
        Offline, refused, not there, or cut off. What came is kept beside the target as ``<name>.part``.
    ValueError
        The file has another SHA-256 than it should; it is not kept.
    """
    pooch = optional("pooch", "reproduction")
    part = target.with_name(target.name + ".part")
    with _quiet(pooch.get_logger()):
        try:
            pooch.retrieve(
                url=url,
                known_hash=sha256,
                fname=target.name,
                path=target.parent,
                downloader=partial(_go_on, part),
            )
        except ValueError as error:
            raise ValueError(
                f"{url} gave a file with another SHA-256 than {sha256}: it was damaged on the way, or it is another "
                "version. It was not kept; try again."
            ) from error


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


def _go_on(part: Path, url: str, output_file: str, pooch: Any) -> None:
    """Download to `part`, from where it ends, and move it to where pooch wants the file."""
    requests = optional("requests", "reproduction")
    try:
        _fetch(requests, url, part)
    except requests.exceptions.HTTPError as error:
        raise DownloadError(f"{error.response.status_code} {error.response.reason}") from error
    except requests.exceptions.Timeout as error:
        raise DownloadError(f"{urlsplit(url).hostname} does not answer; {_kept(part)}") from error
    except requests.exceptions.ConnectionError as error:
        raise DownloadError(f"no connection to {urlsplit(url).hostname}; {_kept(part)}") from error
    except requests.exceptions.RequestException as error:
        raise DownloadError(f"the connection was cut; {_kept(part)}") from error
    part.replace(output_file)


def _kept(part: Path) -> str:
    size = part.stat().st_size if part.exists() else 0
    return f"{size} bytes are kept, and the next try goes on from there" if size else "nothing has come"


def _fetch(requests: Any, url: str, part: Path) -> None:
    offset = part.stat().st_size if part.exists() else 0
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={offset}-"} if offset else {})
    with requests.get(url, headers=headers, stream=True, timeout=_TIMEOUT) as response:
        if offset and response.status_code == requests.codes.requested_range_not_satisfiable:
            if response.headers.get("Content-Range") == f"bytes */{offset}":
                return  # it was whole already
            part.unlink()
        else:
            response.raise_for_status()
            resumes = offset and response.headers.get("Content-Range", "").startswith(f"bytes {offset}-")
            if resumes or response.status_code != requests.codes.partial_content:
                _write(requests, response, part, offset if resumes else 0)
                return
            part.unlink()  # another piece than the one requested
    _fetch(requests, url, part)


def _write(requests: Any, response: Any, part: Path, offset: int) -> None:
    length = response.headers.get("Content-Length")
    total = offset + int(length) if length is not None else None
    with (
        part.open("ab" if offset else "wb") as file,
        optional("tqdm", "reproduction").tqdm(
            total=total,
            initial=offset,
            unit="B",
            unit_scale=True,
            desc=part.stem,
            file=sys.stderr,
            disable=None,  # shown on a terminal only
        ) as bar,
    ):
        for chunk in response.iter_content(_CHUNK):
            file.write(chunk)
            bar.update(len(chunk))
    if total is not None and part.stat().st_size != total:
        raise requests.exceptions.ChunkedEncodingError
