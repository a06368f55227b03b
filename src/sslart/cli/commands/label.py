"""`sslart label`: asks a person for the labels that help most, and learns them."""

from __future__ import annotations

import sys
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from sslart._mapping.model_view import view_of
from sslart._mapping.summary import summarise
from sslart._tables import cells
from sslart._tables.columns import check_columns, samples_for
from sslart._tables.files import read_pieces
from sslart._utils.files import STANDARD
from sslart._utils.intervals import Estimate
from sslart._utils.notes import note
from sslart._utils.text import csv_row, plural, printable
from sslart.active import Query, QueryPool
from sslart.cli._learnt_rows import LearntRows, keys_of
from sslart.cli._model_file import SECONDS_TO_WAIT, WAIT_HELP, ModelFile, save_model
from sslart.cli._more_labels import WantedAccuracy, check_wanted, more_labels
from sslart.cli._output import A_BOX, MODEL_HELP, check_target, print_json, show
from sslart.cli._path_lock import InUseError
from sslart.cli._prompt import SKIP, STOP, Answer, ask_class, show_sample
from sslart.cli.input.encoding_option import EncodingOption
from sslart.cli.output.labelled import LabelledTable


def run(
    model_file: Annotated[str, typer.Argument(metavar="MODEL", help=MODEL_HELP)],
    data: Annotated[str, typer.Argument(help="CSV, TSV, Parquet, Arrow or Excel, with the rows to choose from")],
    questions: Annotated[int, typer.Option(min=1, help="how many rows to ask about at most", metavar="N")] = 20,
    label: Annotated[
        str | None, typer.Option(help="column with classes: rows that have one are not asked about", metavar="COLUMN")
    ] = None,
    id_column: Annotated[str | None, typer.Option("--id", help="column that names rows", metavar="COLUMN")] = None,
    record: Annotated[
        str | None, typer.Option(help="add each label to this CSV: row, id and class", metavar="FILE")
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", help="put each answer into the column of --label, in the table itself")
    ] = False,
    write_to: Annotated[
        str | None, typer.Option(help="put the answers into a copy of the table, of any kind", metavar="FILE")
    ] = None,
    accuracy: WantedAccuracy = None,
    out: Annotated[str | None, typer.Option(help="another file, to keep the old model", metavar="FILE")] = None,
    encoding: EncodingOption = None,
    wait: Annotated[float, typer.Option(min=0, help=WAIT_HELP, metavar="SECONDS")] = SECONDS_TO_WAIT,
    as_json: Annotated[bool, typer.Option("--json", help="print at the end what was learnt, as JSON")] = False,
) -> None:
    """Ask for the labels that would help most, learn each at once, and print how the accuracy changes.

    First come rows among many others, far from any label; the more certain the predictions become, the more
    come rows between the classes; every third row is chosen without regard to the predictions, so that no class is
    overlooked. Where the rows of a box are much alike, a class with * after it is the answer for all
    of them, and counts as often. The model is saved after every label. The file is read piece by piece and may be
    larger than memory.

    With --write each answer is in the table before the model learns it: whatever stops the command, no answer is lost.
    All other cells stay as they are. A table that is not CSV, TSV or Parquet is left alone: --write-to FILE writes a
    copy.
    """
    target = out or model_file
    check_wanted(accuracy)
    if data == STANDARD:
        raise ValueError("Labels are typed on standard input: give the rows as a file.")
    if sys.stdin is None:
        raise ValueError("Labels are typed on standard input, which is closed: run this command in a terminal.")
    check_target(target, data)
    if record is not None:
        check_target(record, model_file, data, target)
    table = _table_to_write(data, label, encoding, write, write_to, (model_file, target, record or STANDARD))
    labelling = _Labelling(ModelFile("label", target, model_file, wait), data, label, id_column, encoding)
    with redirect_stdout(sys.stderr) if as_json else nullcontext():
        states = _ask_and_learn(labelling, questions, record, table)
        expected = more_labels(labelling.model, accuracy)
        if expected is not None:
            show(f"More labels: {'; '.join(expected['sentences'])}")
    if as_json:
        print_json({"model": target, "labelled": len(states) - 1, "states": states, "more_labels": expected})


def _table_to_write(
    data: str, label: str | None, encoding: str | None, write: bool, write_to: str | None, others: tuple[str, ...]
) -> LabelledTable | None:
    """Return the table that answers are put into; None where they are not wanted there."""
    if not write and write_to is None:
        return None
    if label is None:
        raise ValueError("Answers are put into the column that --label names: give --label.")
    if write and write_to is not None:
        raise ValueError("--write is for the table itself and --write-to for a copy: give one of the two.")
    check_target(data if write_to is None else write_to, *others, *([] if write_to is None else [data]))
    return LabelledTable(data, label, encoding, write_to)


def _ask_and_learn(
    labelling: _Labelling, questions: int, record: str | None, table: LabelledTable | None
) -> list[dict[str, Any]]:
    """Ask, learn and print until no row or no question is left; return the state before and after each label."""
    states = [_state(labelling.model, labelling.asked.pool)]
    show(_state_text(states[0]))
    show(f"({A_BOX})")
    for number in range(1, questions + 1):
        model, (pool, names, _) = labelling.model, labelling.asked
        if not (best := pool.best(1)):
            show("There are no more rows to label.")
            break
        query = best[0]
        row = query.row + 1
        _show_query(model, query, pool.sample(query), number, row, names.get(row))
        answer = ask_class(model.classes_.tolist(), len(pool.box_rows(query)))
        if answer is STOP:
            break
        if answer is SKIP:
            labelling.skip(query)
            continue
        rows = [one + 1 for one in pool.box_rows(query)] if answer.whole_box else [row]
        if table is not None:
            table.add(rows, answer.label)
        labelling.learn(query, answer)
        if record is not None:
            _add_to(record, rows, names, answer.label)
        states.append(_state(labelling.model, labelling.asked.pool))
        show(_state_text(states[-1]))
    return states


class _Labelling:
    """A model that learns labels one by one, in turns with other commands, and the rows that may be asked about."""

    def __init__(
        self, file: ModelFile, data: str, label: str | None, id_column: str | None, encoding: str | None
    ) -> None:
        self.file, self._table = file, (data, label, id_column, encoding)
        self.model, self._rows = file.read()
        self.asked = _asked(self.model, self._rows, *self._table)
        self._done: list[Query] = []

    def skip(self, query: Query, *, whole_box: bool = False) -> None:
        """Do not ask about a row again, or about any row of its box."""
        pool = self.asked.pool
        self._done += [query._replace(row=row) for row in (pool.box_rows(query) if whole_box else [query.row])]
        pool.done(query, whole_box=whole_box)

    def learn(self, query: Query, answer: Answer) -> None:
        """Learn the label of a row and save the model; if another command has changed the model, reload it first.

        The label of a whole box is that of its row, with the number of its rows as the weight.
        """
        row, (pool, names, groups) = query.row + 1, self.asked
        sample, typed = pool.sample(query), [answer.label]
        given: dict[str, Any] = {"groups": [groups[row]]} if groups.get(row) else {}
        if answer.whole_box:
            given["sample_weight"] = [len(pool.box_rows(query))]
        try:
            with self.file.owned():
                if is_changed := self.file.has_changed():
                    self.model, self._rows = self.file.read()
                self.model.partial_fit(sample, typed, **given)
                keys = keys_of(view_of(self.model).read(sample), typed, [names.get(row) or None])
                self._rows = self._rows.adding(keys)
                save_model(self.model, self.file, self._rows)
        except InUseError as error:
            raise InUseError(f"The label of row {row} was not learnt. {error}") from error
        self.skip(query, whole_box=answer.whole_box)
        if is_changed:
            note(f"another program has changed {self.file.target}: it was read anew before it learnt this label.")
            self.asked = _asked(self.model, self._rows, *self._table)
            for done in self._done:
                self.asked.pool.done(done)


class _Asked(NamedTuple):
    """The rows that may be asked about, and their names and groups by row number."""

    pool: QueryPool
    names: dict[int, str]
    groups: dict[int, str]


def _asked(
    model: Any, rows: LearntRows, data: str, label: str | None, id_column: str | None, encoding: str | None
) -> _Asked:
    asked = _Asked(QueryPool(model), {}, {})
    for frame in read_pieces(data, encoding, progress=True):
        check_columns(frame.columns, [label, id_column], data)
        samples = samples_for(model, frame.drop(columns=label or []), data)
        known = None if label is None else [one is not None for one in cells.labels(frame[label])]
        asked.pool.add(samples, known)
        start = int(frame.index[0])
        new = [row for row in asked.pool.rows() if row >= start]
        for found, column in ((asked.names, id_column or rows.id_column), (asked.groups, rows.group_column)):
            if column in frame.columns:
                texts = cells.names(frame[column])
                found.update({row + 1: texts[row - start] or "" for row in new})
    return asked


def _state(model: Any, pool: QueryPool) -> dict[str, Any]:
    view = view_of(model)
    summary = summarise(view)
    return {
        "labels": round(float(view.members[0].counts.sum())),
        "boxes": int(model.n_nodes_),
        "boxes_with_label": int(model.n_labelled_nodes_),
        "rows_in_them": round(pool.share_labelled(), 4),
        "leave_one_out": None if summary.accuracy is None else vars(summary.accuracy),
        "not_measured": summary.why_not if view.uses_evidence and view.class_table.seen else "",
    }


def _state_text(state: dict[str, Any]) -> str:
    quality, why_not = state["leave_one_out"], state["not_measured"]
    accuracy = f"; accuracy is not measured: {why_not}" if why_not else ""
    if quality is not None:
        accuracy = f"; leave-one-out accuracy {Estimate(**quality)}"
    return (
        f"{plural(state['labels'], 'label')}; {state['boxes_with_label']} of {state['boxes']} boxes have a label, and "
        f"these hold {100 * state['rows_in_them']:.0f} % of the rows{accuracy}"
    )


def _show_query(model: Any, query: Query, sample: Any, number: int, row: int, name: str | None) -> None:
    title = f"row {row}" if name is None else f"row {row}, {name}"
    reason = f"one of {query.n_samples} rows in a box without a label" if query.new else "the model is unsure here"
    show(f"\nQuestion {number}: {printable(title)}; {reason}")
    show_sample(model, sample, query.node if query.tight else None)
    if view_of(model).class_table.seen:
        proba = model.predict_proba(sample)[0]
        show(f"The model predicts {printable(model.classes_[proba.argmax()])} (probability {proba.max():.2f}).")


def _add_to(record: str, rows: list[int], names: dict[int, str], label: Any) -> None:
    path = Path(record)
    is_new = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        if is_new:
            file.write(csv_row(["row", "id", "class"]))
        for row in rows:
            file.write(csv_row([row, names.get(row, ""), label]))
