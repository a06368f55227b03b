"""The command `sslart label`: active learning in the terminal."""

from __future__ import annotations

import gzip
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext, redirect_stdout
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, BinaryIO, NamedTuple

import numpy as np
import typer

from sslart._mapping.model_view import view_of
from sslart._tables import arrow, cells, files, pandas
from sslart._tables.columns import check_columns, learnt_columns, samples_for
from sslart._tables.files import BYTES_PER_PIECE, read_pieces
from sslart._tables.text import Utf8Text, rows_in, whole_rows, with_cell
from sslart._utils.files import STANDARD, FileIdentity, write_atomically
from sslart._utils.notes import note
from sslart._utils.text import as_text_cell, csv_row, plural, printable, value_text
from sslart.active import Query, QueryPool
from sslart.cli import _options as option
from sslart.cli._model_file import ModelFile
from sslart.cli._output import A_BOX, check_target, print_json, print_table, show
from sslart.cli._path_lock import InUseError
from sslart.cli._predictions import own_types
from sslart.cli._quality import more_labels
from sslart.cli._seen_rows import keys_of
from sslart.cli._table_writer import PARQUET, TEXTS, Buffer, CellStyle, check_kind, written
from sslart.rules._box_rules import DEFAULT_LEVELS, scales_of

MAX_SHOWN = 20
MAX_CHARACTERS = 1000  # shown of a cell that is not a feature, such as a comment
UNKNOWN = "not known"
SKIP, STOP = object(), object()
GZIP = 16 + zlib.MAX_WBITS


def label(
    model_file: option.Model,
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="CSV, TSV, Parquet, Arrow or Excel, with the rows to choose from")
    ],
    questions: Annotated[int, option.count("maximum number of questions")] = 20,
    label: Annotated[str | None, option.column("column with the classes; labelled rows are not asked about")] = None,
    id_column: Annotated[str | None, option.column("column of row IDs", "--id")] = None,
    record: Annotated[
        str | None, option.file("append each label to this CSV file: row, ID, class, and yes where the row was chosen")
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", help="write each label into the column --label of the table itself")
    ] = False,
    write_to: Annotated[
        str | None, option.file("write the labels into a copy of the table, in any supported format")
    ] = None,
    accuracy: option.Accuracy = None,
    out: option.OtherFile = None,
    encoding: option.Encoding = None,
    wait: option.Wait = option.SECONDS_TO_WAIT,
    as_json: Annotated[bool, typer.Option("--json", help="print a summary as JSON at the end")] = False,
) -> None:
    """Ask for the labels that would help most (active learning), learn each at once, and print the accuracy.

    The first questions are about rows in dense regions without labels, later ones increasingly about rows between the
    classes. Every third row is drawn at random: only these measure the accuracy, since chosen rows are more difficult
    than others. Answer them with care, and skip as few as possible. If the rows of a box are very similar, a class
    followed by * labels all of them, and has the weight of all of them. The model is saved after every label. The file
    is read in pieces and may be larger than memory.

    With --write, each label is saved in the table before the model learns it, so no answer is lost if the command is
    interrupted. All other cells stay as they are. --write supports CSV, TSV and Parquet; for other formats,
    --write-to FILE writes a copy.
    """
    target = out or model_file
    option.check_wanted(accuracy)
    if data == STANDARD:
        raise ValueError("Standard input is needed for your answers: give the rows as a file.")
    if sys.stdin is None:
        raise ValueError("Standard input is closed, but needed for your answers: run this command in a terminal.")
    check_target(target, data)
    if record is not None:
        check_target(record, model_file, data, target)
    table = None
    if write or write_to is not None:
        if label is None:
            raise ValueError("--write and --write-to need the column for the labels: give --label.")
        if write and write_to is not None:
            raise ValueError("--write changes the table itself and --write-to writes a copy: give only one of the two.")
        others = [model_file, target, record or STANDARD, *([] if write_to is None else [data])]
        check_target(data if write_to is None else write_to, *others)
        table = LabelledTable(data, label, encoding, write_to)
    session = _Session(ModelFile("label", target, model_file, wait), data, label, id_column, encoding)
    with redirect_stdout(sys.stderr) if as_json else nullcontext():
        session.run(questions, record, table)
        expected = more_labels(session.model, accuracy)
        if expected is not None:
            show(f"More labels: {'; '.join(expected['sentences'])}")
    if as_json:
        states = session.states
        print_json({"model": target, "labelled": len(states) - 1, "states": states, "more_labels": expected})


class _Session:
    """A labelling session: the model file, and the pool of candidate rows."""

    def __init__(
        self, file: ModelFile, data: str, label: str | None, id_column: str | None, encoding: str | None
    ) -> None:
        self.file, self._data, self._label, self._id, self._encoding = file, data, label, id_column, encoding
        self.states: list[dict[str, Any]] = []  # at the start, and after each label
        self._done: list[Query] = []
        self.model, self._rows = file.read()
        self._read_rows()

    def _read_rows(self) -> None:
        """Read the candidate rows, with their IDs and groups by row number."""
        self._pool, self._names, self._groups = QueryPool(self.model), dict[int, str](), dict[int, str]()
        self._remarks = dict[int, list[tuple[str, str]]]()  # cells of columns that are not features
        columns = ((self._names, self._id or self._rows.id_column), (self._groups, self._rows.group_column))
        for frame in read_pieces(self._data, self._encoding, progress=True):
            check_columns(frame.columns, [self._label, self._id], self._data)
            samples = samples_for(self.model, frame.drop(columns=self._label or []), self._data)
            known = (
                None if self._label is None else [one is not None for one in cells.present_texts(frame[self._label])]
            )
            self._pool.add(samples, known)
            start = int(frame.index[0])
            new = [row for row in self._pool.rows() if row >= start]
            for found, column in columns:
                if column in frame.columns:
                    texts = cells.names(frame[column])
                    found.update({row + 1: texts[row - start] or "" for row in new})
            for column in self._unused(frame.columns):
                texts = cells.texts(frame[column].iloc[[row - start for row in new]])
                for row, text in zip(new, texts, strict=True):
                    if text:
                        self._remarks.setdefault(row + 1, []).append((column, text))
            kept = {row + 1 for row in self._pool.rows()}  # the pool drops rows of a long file
            self._remarks = {row: found for row, found in self._remarks.items() if row in kept}
        for done in self._done:
            self._pool.done(done)

    def _unused(self, columns: Iterable[str]) -> list[str]:
        """Return the columns that are neither features nor IDs, groups or labels."""
        plan, names = view_of(self.model).reader.plan, learnt_columns(self.model)
        used = {name for place, name in enumerate(names) if place not in plan.left_out}
        shown = {self._label, self._id or self._rows.id_column}
        return [name for name in columns if name not in used | shown] if names else []

    def run(self, questions: int, record: str | None, table: LabelledTable | None) -> None:
        """Ask questions until the rows or the number of questions run out."""
        self._show_state()
        show(f"({A_BOX})")
        for number in range(1, questions + 1):
            if not (best := self._pool.best(1)):
                show("There are no more rows to label.")
                break
            query, in_box = best[0], self._pool.box_rows(best[0])
            self._show_query(query, number)
            answer = ask_class(self.model.classes_.tolist(), len(in_box))
            if answer is STOP:
                break
            if answer is SKIP:
                self._skip(query, [query.row])
                continue
            rows = in_box if answer.whole_box else [query.row]
            if table is not None:
                table.add([row + 1 for row in rows], answer.label)
            self._learn(query, rows, answer)
            if record is not None:
                self._add_to(record, query, rows, answer.label)
            self._show_state()

    def _skip(self, query: Query, rows: Sequence[int], *, whole_box: bool = False) -> None:
        """Remove rows from the pool."""
        self._done += [query._replace(row=row) for row in rows]
        self._pool.done(query, whole_box=whole_box)

    def _learn(self, query: Query, rows: Sequence[int], answer: Answer) -> None:
        """Learn a label and save the model; if another command has changed the model, reload it first.

        A label for a whole box is learnt for one row, weighted by the number of rows.
        """
        row, sample, typed = query.row + 1, self._pool.sample(query), [answer.label]
        given: dict[str, Any] = {"at_random": [query.at_random]}
        if self._groups.get(row):
            given["groups"] = [self._groups[row]]
        if answer.whole_box:
            given["sample_weight"] = [len(rows)]
        try:
            with self.file.owned():
                if is_changed := self.file.has_changed():
                    self.model, self._rows = self.file.read()
                self.model.partial_fit(sample, typed, **given)
                keys = keys_of(view_of(self.model).read(sample), typed, [self._names.get(row) or None])
                self._rows = self._rows.adding(keys)
                self.file.replace(self.model, self._rows)
        except InUseError as error:
            raise InUseError(f"The label of row {row} was not learnt. {error}") from error
        self._skip(query, rows, whole_box=answer.whole_box)
        if is_changed:
            note(f"another program has changed {self.file.target}: it was reloaded before it learnt this label.")
            self._read_rows()

    def _show_state(self) -> None:
        view = view_of(self.model)
        stated, n_boxes, n_labelled = view.quality, int(self.model.n_nodes_), int(self.model.n_labelled_nodes_)
        why_not = stated.why_not if view.uses_evidence and view.class_table.seen else ""
        state: dict[str, Any] = {
            "labels": round(float(view.members[0].counts.sum())),
            "boxes": n_boxes,
            "boxes_with_label": n_labelled,
            "rows_in_them": round(self._pool.share_labelled(), 4),
            "quality": stated.to_dict(),
        }
        self.states.append(state)
        accuracy = f"; accuracy not measured: {why_not}" if why_not else ""
        if stated.accuracy is not None:
            accuracy = f"; accuracy {stated.accuracy_text()}"
        show(
            f"{plural(state['labels'], 'label')}; {n_labelled} of {n_boxes} boxes have a label and contain "
            f"{100 * state['rows_in_them']:.0f} % of the rows{accuracy}"
        )

    def _show_query(self, query: Query, number: int) -> None:
        row, name, sample = query.row + 1, self._names.get(query.row + 1), self._pool.sample(query)
        title = f"row {row}" if name is None else f"row {row}, {name}"
        reason = f"one of {query.n_samples} rows in an unlabelled box" if query.new else "the model is uncertain here"
        if query.at_random:
            reason = "drawn at random, to measure the accuracy"
        show(f"\nQuestion {number}: {printable(title)}; {reason}")
        show_sample(self.model, sample, query.node if query.tight else None)
        for column, text in self._remarks.get(row, ()):
            shown = text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}…"
            show(f"{column} (not used by the model): {printable(shown)}")
        if view_of(self.model).class_table.seen:
            proba = self.model.predict_proba(sample)[0]
            label = printable(self.model.classes_[proba.argmax()])
            show(f"The model predicts {label} (probability {proba.max():.2f}).")

    def _add_to(self, record: str, query: Query, rows: Sequence[int], label: Any) -> None:
        is_new = not Path(record).exists()
        with Path(record).open("a", encoding="utf-8", newline="") as file:
            if is_new:
                file.write(csv_row(["row", "id", "class", "chosen"]))
            for row in rows:
                is_drawn = query.at_random and row == query.row
                file.write(csv_row([row + 1, self._names.get(row + 1, ""), label, "" if is_drawn else "yes"]))


class Answer(NamedTuple):
    """A typed class, and whether it applies to all rows of the box."""

    label: Any
    whole_box: bool = False


def show_sample(model: Any, sample: Any, box: int | None = None) -> None:
    """Print the values of a sample with their levels; of many columns, those furthest from the median.

    With a box, its intervals are shown too.
    """
    view = view_of(model)
    member, table = view.members[0], view.read(sample)
    coded = member.encode(table)[0]
    lower, upper = (member.encoder.decode(side) for side in member.boxes_of(np.array([0 if box is None else box])))
    rows: list[tuple[float, tuple[str, ...]]] = []
    for column, scale in enumerate(scales_of(member.encoder, view.feature_names, DEFAULT_LEVELS, None)):
        if scale.categories is not None:
            value = table.categories[column][0] if column in table.categories else None
            rows.append((1.0, (scale.feature, UNKNOWN if value is None else f"“{value}”", "", "")))
            continue
        if not len(scale.positions):
            rows.append((0.0, (scale.feature, _value(scale.feature, table.values.item(0, column)), "", "")))
            continue
        position = scale.positions[0]
        known = not np.isnan(coded[position])
        level = f"“{scale.terms[int(scale.levels(coded[[position]])[0]) - 1]}”" if known else ""
        off_middle = abs(coded[position] - 0.5) if known else 0.0
        value = _value(scale.feature, table.values.item(0, column))
        ends = " to ".join(_value(scale.feature, float(side[0, position])) for side in (lower, upper))
        rows.append((off_middle, (scale.feature, value, level, ends)))
    shown = sorted(range(len(rows)), key=lambda row: -rows[row][0])[:MAX_SHOWN]
    head = ("column", "value", "level", "in the box")[: 3 if box is None else 4]
    print_table(head, [rows[row][1][: len(head)] for row in sorted(shown)])
    if len(rows) > len(shown):
        show(f"and {len(rows) - len(shown)} more columns with less unusual values")


def ask_class(classes: list[Any], n_in_box: int = 1) -> Any:
    """Ask for a class and return the answer, of the type of the known classes; SKIP or STOP if none is given.

    If a box has several rows, a class followed by * applies to all of them.
    """
    texts = [str(one) for one in classes]
    by_number = {} if any(text.isdigit() for text in texts) else {str(n): one for n, one in enumerate(classes, start=1)}
    offered = [f"{n} {text}" for n, text in enumerate(texts, start=1)] if by_number else texts
    choices = f"{', '.join(offered)}, or a new class" if offered else "a new class"
    star = f"; add * for all {n_in_box} rows of the box" if n_in_box > 1 else ""
    prompt = printable(f"Class ({choices}{star}; Enter to skip, q to stop): ")
    while True:
        try:
            text = input(prompt).strip()
        except EOFError:
            return STOP
        if not text:
            return SKIP
        if text == "q" and text not in texts:
            return STOP
        whole_box = n_in_box > 1 and text.endswith("*") and text not in texts
        name = text[:-1].strip() if whole_box else text
        if name in texts or name in by_number:
            return Answer(classes[texts.index(name)] if name in texts else by_number[name], whole_box)
        if name and all(isinstance(one, str) for one in classes):
            if _confirmed(name):
                return Answer(name, whole_box)
        elif re.fullmatch("-?[0-9]+", name) and name != "-1" and not any(isinstance(one, bool) for one in classes):
            if _confirmed(name):
                return Answer(int(name), whole_box)
        else:
            show(f"{name!r} is not of the same type as the classes {', '.join(texts)}.")


def _confirmed(text: str) -> bool:
    try:
        return input(f"{text!r} is a new class. Is that correct? (y/N): ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def _value(feature: str, value: float) -> str:
    return UNKNOWN if np.isnan(value) else value_text(feature, value)


class LabelledTable:
    """The table `data` with a column for labels; it is rewritten, or written to another file, after each label.

    In CSV, TSV and Parquet, everything else stays as it is; text formats byte for byte.
    """

    def __init__(self, data: str, column: str, encoding: str | None, target: str | None = None) -> None:
        self._data, self._column, self._encoding = data, column, encoding
        self.target = data if target is None else target
        self._labels: dict[int, str] = {}
        with files.opened(data, False) as file:
            self._kind = files.kind_of(file, data)
        if target is not None:
            check_kind(target)
            if Path(target).exists():
                raise FileExistsError(
                    f"{target} exists and may contain labels: give another name, or label that table."
                )
        elif self._kind not in ("", "Parquet"):
            raise ValueError(
                f"{data} ({self._kind}) would lose everything but its cells if it were rewritten: write a "
                "new table with --write-to FILE, such as labelled.xlsx or labelled.csv."
            )
        self._known = FileIdentity.of(Path(data))

    def add(self, rows: Sequence[int], label: Any) -> None:
        """Write a label for rows, counted from 1 below the header; on error the table stays unchanged."""
        self._labels.update(dict.fromkeys(rows, str(label)))
        try:
            write_atomically(Path(self.target), self._content(), self._check)
        except UnicodeEncodeError as error:
            raise ValueError(
                f"{label!r} cannot be written in the encoding of {self._data} ({error.encoding}): save the "
                "table as CSV (UTF-8) first."
            ) from error
        if self.target == self._data:
            self._known, self._labels = FileIdentity.of(Path(self._data)), {}

    def _check(self, _: Path) -> None:
        if FileIdentity.of(Path(self._data)) != self._known:
            rows = ", ".join(f"row {row}: {label}" for row, label in self._labels.items())
            raise InUseError(
                f"Another program has changed {self._data} since this command began, and rows may have moved. These "
                f"labels were not written: {rows}. Run this command again."
            )

    def _content(self) -> Iterator[bytes]:
        """Yield the table with the labels, in the format of the target."""
        kind, is_itself = Path(self.target).suffix.lower(), self.target == self._data
        with files.opened(self._data, False) as file:
            if not self._kind and (is_itself or kind in TEXTS):
                content = self._text(file)
                yield from _packed(content) if is_itself and isinstance(file, gzip.GzipFile) else content
            elif self._kind == "Parquet" and (is_itself or kind in PARQUET):
                yield from self._parquet(file)
            else:
                yield from self._frames(kind)

    def _text(self, file: BinaryIO) -> Iterator[bytes]:
        text = Utf8Text(file, self._data, self._encoding)
        head = files.read_header(text, self._data)
        names = cells.header(head.row, head.separator, self._data)
        yield text.encoded(head.before + head.row)
        place, number = names.index(self._column), 0
        for rows in whole_rows(text, head.separator, BYTES_PER_PIECE, self._data, head.after):
            parts = []
            for row in rows_in(rows, head.separator):
                is_row = bool(row.strip(b"\r\n"))
                number += is_row
                label = self._labels.get(number) if is_row else None
                parts.append(row if label is None else with_cell(row, head.separator, place, as_text_cell(label)))
            yield text.encoded(b"".join(parts))

    def _parquet(self, file: BinaryIO) -> Iterator[bytes]:
        pyarrow, parquet, sink, number = arrow(""), arrow(".parquet"), Buffer(), 0
        source = parquet.ParquetFile(file)
        schema, place = source.schema_arrow, source.schema_arrow.get_field_index(self._column)
        if pyarrow.types.is_null(schema.field(place).type):
            schema = schema.set(place, schema.field(place).with_type(pyarrow.string()))
        packed = source.metadata.row_group(0).column(0).compression
        with parquet.ParquetWriter(sink, schema, compression=packed.lower().replace("uncompressed", "none")) as writer:
            for group in range(source.num_row_groups):
                table = source.read_row_group(group)
                labels = table.column(place).to_pylist()
                found = [self._labels.get(number + row) for row in range(1, table.num_rows + 1)]
                number += table.num_rows
                new = _of_type([label or old for label, old in zip(found, labels, strict=True)], schema.field(place))
                writer.write_table(table.set_column(place, schema.field(place), new), row_group_size=table.num_rows)
                yield sink.taken()
        yield sink.taken()

    def _frames(self, kind: str) -> Iterator[bytes]:
        pieces = files.read_originals(self._data, self._encoding)
        first = next(pieces)
        frames = map(self._labelled, chain([first], pieces))
        yield from written(frames, kind, own_types(first) | {self._column: None}, CellStyle())

    def _labelled(self, piece: files.Piece) -> Any:
        frame = piece.as_written.set_axis(piece.frame.columns, axis=1)
        labels = [self._labels.get(row + 1) for row in piece.frame.index]
        present = cells.texts(frame[self._column])
        new = pandas().Series([label or old for label, old in zip(labels, present, strict=True)], dtype=object)
        return frame.reset_index(drop=True).assign(**{self._column: new})


def _of_type(labels: list[Any], field: Any) -> Any:
    """Return labels as a Parquet column; raise a ValueError if one does not fit its type."""
    pyarrow = arrow("")
    kind = field.type.value_type if pyarrow.types.is_dictionary(field.type) else field.type
    try:
        values = [
            label if label is None or not isinstance(label, str) else _value_of_type(label, kind) for label in labels
        ]
        array = pyarrow.array(values, kind)
        return array.dictionary_encode().cast(field.type) if kind != field.type else array
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, ValueError) as error:
        raise ValueError(
            f"A label does not fit the type of column {field.name!r} ({kind}): write a new table with --write-to FILE, "
            "such as labelled.csv."
        ) from error


def _value_of_type(label: str, kind: Any) -> Any:
    types = arrow("").types
    if types.is_integer(kind) or types.is_floating(kind):
        return float(label) if types.is_floating(kind) else int(label)
    return label == "True" if types.is_boolean(kind) and label in ("True", "False") else label


def _packed(content: Iterable[bytes]) -> Iterator[bytes]:
    packer = zlib.compressobj(wbits=GZIP)
    for part in content:
        yield packer.compress(part)
    yield packer.flush()
