"""The commands `sslart update` (incremental learning) and `sslart merge`."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import typer

import sslart
from sslart._mapping.model_view import view_of
from sslart._mapping.quality import ModelQuality
from sslart._mapping.summary import summarise
from sslart._tables import cells
from sslart._tables.columns import (
    check_columns,
    groups_of,
    labels_of,
    learnt_columns,
    rows_with_values,
    samples_for,
)
from sslart._tables.files import read_pieces
from sslart._utils.files import STANDARD
from sslart._utils.intervals import Estimate, difference
from sslart._utils.notes import note
from sslart._utils.text import plural
from sslart.cli import _options as option
from sslart.cli._model_file import ModelFile, read_model_and_rows
from sslart.cli._output import check_target, print_json, print_table
from sslart.cli._progress import busy
from sslart.cli._remote import Sending, ServedModel, connected, refuse
from sslart.cli._seen_rows import MAX_KEYS, NO_KEYS, LearntRows, RowKeys, keys_of

MERGED_TEXTS = {"models": "models merged", "samples": "rows learnt", "boxes_before": "boxes before merging"}
LEARNT_TEXTS = {
    "samples": "rows learnt",
    "labelled": "of these, labelled",
    "learnt_before": "rows learnt before",
    "other_label": "of these, with a different label now",
    "new_classes": "new classes",
    "boxes_before": "boxes before",
    "accuracy_before": "accuracy before",
}


def update(
    model_file: option.ModelOrName,
    data: option.Data,
    label: option.Label = None,
    id_column: Annotated[str | None, option.column("column of row IDs; default: as in fit", "--id")] = None,
    group: Annotated[str | None, option.column(f"{option.GROUP_HELP}; default: as in fit")] = None,
    half_life: Annotated[
        Any, option.half_life("number of rows after which a row counts half; default: as before")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="also learn rows that the model has learnt before")] = False,
    out: option.OtherFile = None,
    encoding: option.Encoding = None,
    wait: option.Wait = option.SECONDS_TO_WAIT,
    server: option.Server = None,
    token: option.Token = None,
    as_json: option.Json = False,
    quiet: option.Quiet = False,
) -> None:
    """Update a model with new rows and replace its file atomically. Without --label, the rows are unlabelled.

    Rows that the model has already learnt are skipped: those with the same --id or, without one, with the same values.
    A row learnt without a label that now has one is learnt. The file is read in pieces and may be larger than memory.
    With --half-life, older rows count less and less, and patterns that do not recur are forgotten; the setting is
    stored in the model and also applies to sslart watch.

    The accuracy before and after is measured by leave-one-out on the labels that the model had at that time. If the
    95 % interval of the difference includes 0, there is no clear change.

    With --server, the rows are sent to a service, 1,000 at a time, and MODEL is the name of a model there. The columns
    of IDs and groups are those in its settings, unless --id is given. If the same file is sent again within a week, the
    service skips the rows that it has already accepted.
    """
    if server is not None:
        refuse(group=group, out=out, wait=None if wait == option.SECONDS_TO_WAIT else wait)
        with connected(server, token) as client:
            served = ServedModel(client, model_file, data)
            old = client.load(model_file) if len(served.classes) and (as_json or not quiet) else None
            if half_life is not None:
                client.set_parameters(model_file, half_life=half_life)
            sending = Sending(served, data, label, id_column, again=again)
            for frame in read_pieces(data, encoding, progress=not quiet and "sending"):
                sending.send(frame)
            sending.print_notes()
            if old is not None:
                with busy("the service is learning", shown=not quiet):
                    sending.wait_until_learnt()
                _show(
                    {"model": model_file, **sending.counts},
                    _State.of(old),
                    _State.of(client.load(model_file)),
                    as_json=as_json,
                )
        return
    target = out or model_file
    check_target(target, data)
    file = ModelFile("update", target, model_file, wait)
    with file.owned():
        model, rows = file.read()
        if half_life is not None:
            model.set_params(half_life=half_life)
        with busy("measuring the accuracy before", shown=not quiet):
            before = None if quiet and not as_json else _State.of(model)
        learning = _Learning(model, rows.with_kept_labels(view_of(model)), data, label, id_column, group, again=again)
        for frame in read_pieces(data, encoding, progress=not quiet and "learning"):
            learning.learn(frame)
        with busy(f"writing {target}", shown=not quiet):
            file.replace(model, learning.learnt_rows())
    learning.print_notes()
    if before is not None:
        with busy("measuring the accuracy after", shown=not quiet):
            after = _State.of(model)
        _show({"model": target, **learning.counts}, before, after, as_json=as_json)


class _State(NamedTuple):
    """Classes, boxes and quality of a model at one time."""

    classes: list[Any]
    n_boxes: int
    quality: ModelQuality

    @classmethod
    def of(cls, model: Any) -> _State:
        return cls(model.classes_.tolist(), int(model.n_nodes_), view_of(model).quality)


def _show(counts: dict[str, Any], before: _State, after: _State, *, as_json: bool) -> None:
    """Print the changes of a model.

    Each accuracy is measured on the labels that the model had at that time. The interval of their difference treats
    them as independent and is conservative, since most labels are in both.
    """
    old, new = before.quality.accuracy, after.quality.accuracy
    change = None if old is None or new is None else difference(old, new)
    summary = {
        **counts,
        "new_classes": [one for one in after.classes if one not in before.classes],
        "boxes_before": before.n_boxes,
        "boxes": after.n_boxes,
    }
    if as_json:
        ends = change and {"value": change.value, "low": change.low, "high": change.high}
        qualities = {"quality_before": before.quality.to_dict(), "quality": after.quality.to_dict()}
        print_json({**summary, **qualities, "change": ends})
        return
    summary |= {
        "new_classes": ", ".join(map(str, summary["new_classes"])) or "none",
        "accuracy_before": before.quality.accuracy_text(),
        "accuracy": after.quality.accuracy_text(),
        "change": _change_text(change),
    }
    print_table(("updated", ""), [(LEARNT_TEXTS.get(name, name), str(value)) for name, value in summary.items()])


def _change_text(change: Estimate | None) -> str:
    if change is None or change.value is None or change.low is None or change.high is None:
        return "unknown: accuracy was not measured both before and after"
    points = f"{100 * change.value:+.1f} points (95 % interval {100 * change.low:+.1f} to {100 * change.high:+.1f})"
    if change.low <= 0 <= change.high:
        return f"{points}: no clear change (the interval includes 0)"
    return f"{points}: {'higher' if change.value > 0 else 'lower'} than before"


class _Learning:
    """Incremental learning from the pieces of a file, with a record of the rows."""

    def __init__(
        self,
        model: Any,
        rows: LearntRows,
        data: str,
        label: str | None,
        id_column: str | None,
        group: str | None,
        *,
        again: bool,
    ) -> None:
        self.model, self._rows, self.data, self.label, self.again = model, rows, data, label, again
        self.given = id_column, group
        self.before, self.n_by_chance = rows, 0
        self._new_keys: list[RowKeys] = []
        self.counts = dict.fromkeys(("samples", "labelled", "learnt_before", "other_label"), 0)

    def learn(self, frame: Any) -> None:
        """Learn the new rows of a piece, or all with --again."""
        model, data, label = self.model, self.data, self.label
        check_columns(frame.columns, [label, *self.given], data)
        id_column, group = (
            named if named is not None else remembered if remembered in frame.columns else None
            for named, remembered in zip(self.given, (self.before.id_column, self.before.group_column), strict=True)
        )
        features = frame.columns.drop([name for name in {label, id_column, group} if name is not None])
        frame = rows_with_values(model, frame, data, features)
        labels = None if label is None else labels_of(frame, label, data, model.classes_)
        samples = samples_for(model, frame[features], data)
        keys = keys_of(
            view_of(model).read(samples), labels, None if id_column is None else cells.names(frame[id_column])
        )
        found = self.before.compare(keys)
        self.n_by_chance += found.n_by_chance
        self._new_keys.append(keys)
        if sum(len(one.rows) for one in self._new_keys) > MAX_KEYS:
            self._remember()
        new = (~found.again | self.again).nonzero()[0]
        self.counts["learnt_before"] += int(found.again.sum())
        self.counts["other_label"] += int(found.other_label.sum())
        if not len(new):
            return
        labels = None if labels is None else [labels[row] for row in new]
        groups = {} if group is None else {"groups": groups_of(frame.iloc[new], group, data, labels)}
        model.partial_fit(samples.iloc[new] if learnt_columns(model) else samples[new], labels, **groups)
        self.counts["samples"] += len(new)
        self.counts["labelled"] += sum(one is not None for one in labels or ())

    def learnt_rows(self) -> LearntRows:
        """Return the record of learnt rows, including those of the file."""
        self._remember()
        return self._rows

    def _remember(self) -> None:
        self._rows, self._new_keys = self._rows.adding(RowKeys.joined([NO_KEYS, *self._new_keys])), []

    def print_notes(self) -> None:
        """Print notes on rows that the model had learnt before."""
        before, n_rows = self.counts["learnt_before"], self.counts["samples"]
        if before and self.again:
            note(f"{before} of {n_rows} rows were already learnt and are learnt again.")
        elif before:
            note(f"{before} of {before + n_rows} rows were already learnt and are skipped; --again learns them anyway.")
        if self.counts["other_label"]:
            note(
                f"{plural(self.counts['other_label'], 'row')} already learnt with another class: both labels count. If "
                "the first was wrong, correct it in the table and refit the model."
            )
        if self.before.is_part:
            note(f"The model has learnt more than {MAX_KEYS} rows: only a random sample of them is recognised.")
        if self.n_by_chance:
            note(
                f"{plural(self.n_by_chance, 'row')} with the same values as rows already learnt: "
                "in this table values often coincide by chance, so they are learnt. To recognise rows, give a "
                "column of row IDs with --id, here and in sslart fit."
            )


def merge(
    model_files: Annotated[list[str], typer.Argument(metavar="MODEL", help=option.MODEL_HELP)],
    out: Annotated[str, option.file("file for the merged model")],
    vigilance: Annotated[
        float | None,
        option.parameter("vigilance", "ρ: minimum similarity of boxes that are merged; default: as in fit"),
    ] = None,
    wait: option.Wait = option.SECONDS_TO_WAIT,
    as_json: option.Json = False,
    quiet: option.Quiet = False,
) -> None:
    """Merge models fitted with the same options to parts of a table, or at several sites.

    The merged model has the ranges, categories, classes and labels of all. The order of the models does not matter. A
    row learnt by several models counts several times.
    """
    if out == STANDARD:
        raise ValueError("A model goes to a file: give its name with --out.")
    check_target(out, *model_files)
    file = ModelFile("merge", out, wait=wait)
    with file.owned():
        file.replace_present()
        models, rows = zip(*(read_model_and_rows(path) for path in model_files), strict=True)
        try:
            with busy(f"merging {len(models)} models", shown=not quiet):
                merged = sslart.merge(models, vigilance)
        except (TypeError, ValueError) as error:
            raise ValueError(_with_names(str(error), model_files)) from error
        learnt = LearntRows.joined(rows)
        file.replace(merged, learnt)
    n_again = sum(len(one.keys.rows) for one in rows) - len(learnt.keys.rows)
    if n_again and learnt.identifies and not learnt.is_part:
        note(f"{plural(n_again, 'row')} learnt by several models: each counts several times.")
    if quiet and not as_json:
        return
    summary = summarise(view_of(merged))
    found: dict[str, Any] = {
        "model": out,
        "models": len(models),
        "samples": summary.n_samples,
        "classes": merged.classes_.tolist(),
        "boxes_before": int(sum(model.n_nodes_ for model in models)),
        "boxes": int(merged.n_nodes_),
    }
    if as_json:
        print_json({**found, "quality": summary.quality.to_dict()})
        return
    found |= {"classes": ", ".join(map(str, found["classes"])), "accuracy": summary.quality.accuracy_text()}
    print_table(("merged", ""), [(MERGED_TEXTS.get(name, name), str(value)) for name, value in found.items()])


def _with_names(message: str, paths: list[str]) -> str:
    """Replace the indices of models in a message by the names of their files."""
    for place, path in reversed(list(enumerate(paths))):
        message = message.replace(f"models[{place}]", path)
    return message
