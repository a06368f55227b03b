"""Reading of table files in pieces, of any length: CSV, TSV, Parquet, Arrow and Excel."""

from __future__ import annotations

import codecs
import gzip
import os
import shutil
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple, cast

import numpy as np

from sslart._tables import arrow, pandas
from sslart._tables.cells import check_unique, header, header_cells, present_texts
from sslart._tables.limits import ARROW_FILE, MAX_LINE_BYTES, check_cells, check_packed, check_sheets, check_width
from sslart._tables.text import Utf8Text, first_row, whole_rows
from sslart._utils.files import STANDARD
from sslart._utils.optional import install_command, optional

CELLS_PER_PIECE = 2**18
BYTES_PER_PIECE = MAX_LINE_BYTES  # so that every row fits into a piece
BYTES_OF_TEXT = 2**25  # of text in a piece of a Parquet file
MIN_ROWS = 1000
OLD_EXCEL = b"\xd0\xcf\x11\xe0"  # .xls, and all Office files with a password
_STARTS = {
    b"PAR1": "Parquet",
    b"ARROW1": "Arrow",
    b"\xff\xff\xff\xff": "Arrow stream",
    b"PK\x03\x04": "Excel",
    OLD_EXCEL: "Excel",
}
_NAMES = {".parquet": "Parquet", ".pq": "Parquet", ".xlsx": "Excel", ".xls": "Excel"}


class Piece(NamedTuple):
    """Some rows of a file."""

    frame: Any  # text columns; decimal commas of a table separated by semicolons are converted to points
    as_written: Any  # the same rows as in the file
    schema: Any = None  # the types of `as_written`, if the file has types or all is text
    separator: str = ""  # of the cells of a text file
    text: Utf8Text | None = None  # the text with its encoding
    has_mark: bool = False  # whether the text begins with a byte order mark


def read_pieces(
    source: str, encoding: str | None = None, *, progress: bool | str = False, cells_only: bool = False
) -> Iterator[Any]:
    """Yield a file as frames of some rows each, at least one; the index continues from frame to frame.

    The source is a path, or ``-`` for standard input. Its format is determined by its first bytes, else by its name.
    In text files, the header determines the separator (comma, tab or semicolon), and the encoding is detected if it is
    not given: UTF-8, UTF-16 with a byte order mark, or Windows-1252. With `cells_only`, columns of lists, records and
    bytes raise a ValueError: in an untrusted file they may take all memory.
    """
    for piece in read_originals(source, encoding, progress=progress, cells_only=cells_only):
        yield piece.frame


def read_originals(
    source: str, encoding: str | None = None, *, progress: bool | str = False, cells_only: bool = False
) -> Iterator[Piece]:
    """Yield the pieces of `read_pieces`, each with its original rows."""
    with opened(source, progress) as file:
        name = "standard input" if source == STANDARD else source
        try:
            kind = kind_of(file, source)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise ValueError(f"{name} is a damaged gzip file: copy or compress it again.") from error
        n_rows = 0
        pieces = _READERS[kind](file, name, cells_only) if kind else _read_text(file, name, encoding)
        for piece in pieces:
            frame = piece.frame
            frame.columns = [str(one) for one in frame.columns]
            check_unique(frame.columns, name)
            frame.index = pandas().RangeIndex(n_rows, n_rows + len(frame))
            n_rows += len(frame)
            if len(frame):
                yield piece
    if not n_rows:
        raise ValueError(f"{name} has no rows below its header: give at least one sample.")


def read_table(source: str, encoding: str | None = None) -> Any:
    """Read a file, or standard input, as one frame with at least one row."""
    return pandas().concat(list(read_pieces(source, encoding)))


def rows_per_piece(n_columns: int) -> int:
    """Return the number of rows to read at a time."""
    return max(MIN_ROWS, CELLS_PER_PIECE // max(n_columns, 1))


@contextmanager
def opened(source: str, progress: bool | str) -> Iterator[BinaryIO]:
    """Open a file; standard input and pipes, which cannot be read twice, are copied first."""
    with ExitStack() as stack:
        if source == STANDARD:
            if sys.stdin is None:
                raise ValueError("Standard input is closed: give a file, or pipe rows into the command.")
            file = stack.enter_context(_copied(sys.stdin.buffer))
        elif Path(source).is_dir():
            raise IsADirectoryError(f"{source} is a folder: give a file in it.")
        elif not Path(source).exists():
            raise FileNotFoundError(f"There is no file {source}: check the name, or give - for standard input.")
        else:
            plain = stack.enter_context(Path(source).open("rb"))
            is_file = Path(source).is_file()
            file = stack.enter_context(_watched(plain, progress) if is_file else _copied(plain))
        is_packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        yield cast(BinaryIO, gzip.GzipFile(fileobj=file)) if is_packed else file


@contextmanager
def _copied(stream: IO[bytes]) -> Iterator[BinaryIO]:
    with tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(stream, copy)
        copy.seek(0)
        yield cast(BinaryIO, copy)


@contextmanager
def _watched(file: BinaryIO, progress: bool | str) -> Iterator[Any]:
    """Return the file, with a progress bar if standard error is a terminal.

    `progress` may be a text on the work done with the rows; the clock then runs until the work is done.
    """
    if not (progress and sys.stderr.isatty()):
        yield file
        return
    size = os.fstat(file.fileno()).st_size
    rich, console = optional("rich.progress", "cli"), optional("rich.console", "cli").Console(stderr=True)
    words = rich.SpinnerColumn(), rich.TextColumn("{task.description}")
    columns = *words, rich.BarColumn(), rich.DownloadColumn(), rich.TimeElapsedColumn()
    with rich.Progress(*columns, console=console, transient=True) as shown:
        yield shown.wrap_file(file, size, description=progress if isinstance(progress, str) else "reading")


def kind_of(file: BinaryIO, source: str = "") -> str:
    """Return the format of a file by its first bytes, else by its name; empty for text."""
    start = file.read(6)
    file.seek(0)
    by_name = _NAMES.get(Path(source).suffix.lower(), "")
    return next((kind for mark, kind in _STARTS.items() if start.startswith(mark)), by_name)


def _read_text(file: BinaryIO, name: str, encoding: str | None) -> Iterator[Piece]:
    """Yield the cells of a text as text."""
    pyarrow, arrow_csv, text = arrow(""), arrow(".csv"), Utf8Text(file, name, encoding)
    try:
        row, separator, before, rest = read_header(text, name)
        has_mark = before.startswith(codecs.BOM_UTF8)
        names, written_names = header(row, separator, name), header_cells(row, separator, name)
        strings = arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pyarrow.large_string()), null_values=[""], strings_can_be_null=True
        )
        for rows in whole_rows(text, separator, BYTES_PER_PIECE, name, rest):
            if rows.strip(b"\r\n"):
                table = _read_rows(rows, names, separator, strings)
                piece = _as_piece(table)
                as_written = piece.as_written.set_axis(written_names, axis=1)
                frame = _as_piece(_with_points(table)).frame if separator == ";" else piece.frame
                yield piece._replace(
                    frame=frame, as_written=as_written, separator=separator, text=text, has_mark=has_mark
                )
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{name} is truncated or damaged: copy or compress it again.") from error
    except pyarrow.ArrowInvalid as error:
        raise ValueError(
            f"{name} is not an even table: {str(error).strip().rstrip('.')}. Give every row as many cells as the "
            "header, and put cells that contain a separator in quotes."
        ) from error


def _read_rows(rows: bytes, names: list[str], separator: str, strings: Any) -> Any:
    """Parse rows as a table of texts. Arrow reads from memory, since its threads must not call a Python file object."""
    arrow_csv = arrow(".csv")
    return arrow_csv.read_csv(
        arrow("").BufferReader(rows),
        arrow_csv.ReadOptions(use_threads=False, block_size=len(rows) + 1, column_names=names),
        arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=True),
        strings,
    )


def _with_points(batch: Any) -> Any:
    """Convert decimal commas to points, as tables separated by semicolons have them."""
    replace = arrow(".compute").replace_substring_regex
    columns = [replace(column, r"^\s*([+-]?\d+),(\d+)\s*$", r"\1.\2") for column in batch.columns]
    return arrow("").table(columns, names=batch.schema.names)


class Header(NamedTuple):
    """The first non-blank row of a text, its separator, and the content read before and after it."""

    row: bytes
    separator: str
    before: bytes
    after: bytes


def read_header(text: Utf8Text, name: str) -> Header:
    """Return the header of a text, or raise a ValueError with a remedy if there is none."""
    whole, content, found, is_over = b"", b"", None, False
    while not is_over and (found is None or found[0] == content):  # the end may split a \r\n
        if len(content) > MAX_LINE_BYTES:
            raise _long_header(name)
        read = text.read(BYTES_PER_PIECE)
        is_over = not read
        whole += read or b"\n"
        content = whole.removeprefix(codecs.BOM_UTF8).lstrip(b"\r\n")
        found = first_row(content)
    if not content:
        raise ValueError(f"{name} is empty: give a table with a header and rows.")
    row, separator = found or (content, ",")
    if len(row) > MAX_LINE_BYTES:
        raise _long_header(name)
    if row.endswith(b"\r"):
        raise ValueError(f"{name} has the line ends of an old Macintosh (CR): save it again as CSV (UTF-8).")
    return Header(row, separator, whole[: len(whole) - len(content)], content[len(row) :])


def _long_header(name: str) -> ValueError:
    return ValueError(
        f"{name} has a header of more than {MAX_LINE_BYTES} bytes, which is the limit: is it a table with a header and "
        "one line per row?"
    )


def _read_parquet(file: BinaryIO, name: str, cells_only: bool) -> Iterator[Piece]:
    pyarrow, parquet = arrow(""), arrow(".parquet")
    try:
        schema = parquet.ParquetFile(file).schema_arrow
        check_width(len(schema), name)
        check_unique(schema.names, name)
        if cells_only:
            check_cells(schema, name)
        texts = {field.name for field in schema if field.type in (pyarrow.string(), pyarrow.large_string())}
        file.seek(0)
        whole = parquet.ParquetFile(file, read_dictionary=texts)
        for batch in whole.iter_batches(rows_per_piece(len(schema))):
            yield from map(_as_piece, _written_out(batch, texts, name))
    except (pyarrow.ArrowInvalid, OSError) as error:
        raise ValueError(f"{name} cannot be read as Parquet: {error} Write it again, or give a CSV file.") from error


def _written_out(batch: Any, texts: set[str], source: str) -> Iterator[Any]:
    """Decode dictionary-encoded texts of a batch; yield it in parts, as a few bytes may repeat long texts."""
    compute = arrow(".compute")
    n_bytes = np.zeros(batch.num_rows, dtype=np.int64)
    for name in texts:
        lengths = compute.take(compute.binary_length(batch[name].dictionary), batch[name].indices)
        n_bytes += lengths.cast("int64").fill_null(0).to_numpy(zero_copy_only=False)
    if batch.num_rows and n_bytes.max() > MAX_LINE_BYTES:
        raise ValueError(f"{source} has a row of more than {MAX_LINE_BYTES} bytes of text, which is the limit.")
    parts = n_bytes.cumsum() // BYTES_OF_TEXT
    starts = [*np.flatnonzero(np.diff(parts, prepend=-1)).tolist(), batch.num_rows]
    for start, stop in pairwise(starts):
        part = batch.slice(start, stop - start)
        columns = [part[name].dictionary_decode() if name in texts else part[name] for name in batch.schema.names]
        yield arrow("").record_batch(columns, names=batch.schema.names)


def _read_arrow(file: BinaryIO, name: str, cells_only: bool) -> Iterator[Piece]:
    pyarrow, ipc = arrow(""), arrow(".ipc")
    try:
        start = len(ARROW_FILE) if kind_of(file) == "Arrow" else 0
        file.seek(start)
        check_packed(file, name)
        file.seek(start)
        batches = ipc.open_stream(file)
        check_width(len(batches.schema), name)
        if cells_only:
            check_cells(batches.schema, name)
        for batch in batches:
            step = rows_per_piece(batch.num_columns)
            yield from (_as_piece(batch.slice(start, step)) for start in range(0, batch.num_rows, step))
    except (pyarrow.ArrowInvalid, OSError) as error:
        raise ValueError(f"{name} cannot be read as Arrow: {error} Write it again, or give a CSV file.") from error


def _as_piece(batch: Any) -> Piece:
    """Return a batch as a piece; a pandas index stored in the file becomes columns, or is dropped if it has no name."""
    unnamed = [name for name in batch.schema.names if name.startswith("__index_level_")]
    batch = batch.drop_columns(unnamed)
    frame = batch.to_pandas(ignore_metadata=True, integer_object_nulls=True)
    return Piece(frame, frame.copy(deep=False), batch.schema)


def _read_excel(file: BinaryIO, name: str, _: bool) -> Iterator[Piece]:
    start = file.read(len(OLD_EXCEL))
    file.seek(0)
    if start == OLD_EXCEL:
        raise ValueError(f"{name} is an old or encrypted spreadsheet: save it as .xlsx without a password, or as CSV.")
    try:
        if zipfile.is_zipfile(file):
            check_sheets(file)
        file.seek(0)
        frame = pandas().read_excel(file, keep_default_na=False, na_values=[""])
        yield Piece(frame, frame.apply(_with_whole_numbers))
    except ImportError as error:
        raise ImportError(
            f"{name} is a spreadsheet, which is read with openpyxl. Save it as CSV (UTF-8) and give that, or "
            f"{install_command('excel', 'openpyxl')}"
        ) from error
    except MemoryError:
        raise
    except Exception as error:  # damaged files raise all kinds of errors in the packages that read them
        raise ValueError(f"{name} cannot be read as a spreadsheet: {error}. Save it as CSV (UTF-8).") from error


def _with_whole_numbers(column: Any) -> Any:
    """Convert a column of a sheet, which stores all numbers as floats, to integers if all are whole."""
    is_whole = column.dtype.kind == "f" and (column.dropna().mod(1) == 0).all() and (column.abs().max() < 2**53)
    return column.astype("Int64") if is_whole else column


_READERS = {"Parquet": _read_parquet, "Arrow": _read_arrow, "Arrow stream": _read_arrow, "Excel": _read_excel}


class Sampled(NamedTuple):
    """Sampled rows in their order, and the number of rows sampled from."""

    frame: Any
    n_rows: int


def sample_rows(pieces: Iterable[Any], label: str | None, most: int, seed: int) -> Sampled:
    """Sample at most `most` rows; unlabelled rows only if all labelled ones fit.

    Without a label column, sampling is uniform.
    """
    random = np.random.default_rng(seed)
    frames: list[Any] = []
    draws: list[Any] = []
    n_rows = 0
    for piece in pieces:
        n_rows += len(piece)
        frames.append(piece)
        later = 0 if label is None else np.array([one is None for one in present_texts(piece[label])])
        draws.append(random.random(len(piece)) + later)
        if sum(map(len, draws)) > 2 * most:
            frames, draws = _fewer(frames, draws, most)
    if n_rows > most:
        frames, draws = _fewer(frames, draws, most)
    return Sampled(pandas().concat(frames), n_rows)


def _fewer(frames: list[Any], draws: list[Any], most: int) -> tuple[list[Any], list[Any]]:
    drawn = np.concatenate(draws)
    kept = np.sort(np.argsort(drawn, kind="stable")[:most])
    return [pandas().concat(frames).iloc[kept]], [drawn[kept]]
