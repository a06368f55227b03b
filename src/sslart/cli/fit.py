"""`sslart fit`: learn a model from a partly labelled table."""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import typer

from sslart import SSLART, WESSLART, AutoSSLART
from sslart._mapping.conformal import measured_guarantees
from sslart._mapping.model_view import view_of
from sslart._mapping.summary import SHOWN_FEATURES, ModelSummary, summarise
from sslart._tables.columns import Column
from sslart._tables.training_table import Columns, TrainingTable, read_training_table
from sslart._utils.files import STANDARD
from sslart._utils.intervals import Estimate
from sslart._utils.text import list_text
from sslart._utils.validation import AUTO
from sslart.cli._cluster import DASK_HELP, SCHEDULER_HELP, check_scheduler, fit_on_cluster
from sslart.cli._model_file import SECONDS_TO_WAIT, ModelFile, save_model
from sslart.cli._options import (
    COST_HELP,
    COST_METAVAR,
    DATA_HELP,
    GROUP_HELP,
    HALF_LIFE_HELP,
    HALF_LIFE_METAVAR,
    JSON_HELP,
    LABELLED,
    MAX_NODES_HELP,
    NO_LIMIT,
    QUIET_HELP,
    WAIT_HELP,
    EncodingOption,
    WantedAccuracy,
    as_options,
    check_wanted,
    half_life_of,
    max_nodes_of,
    read_costs,
    validation_share,
)
from sslart.cli._output import A_BOX, check_target, print_json, print_table, show
from sslart.cli._quality import measured, more_labels
from sslart.cli._seen_rows import LearntRows, keys_of
from sslart.cli.service.connection import ServerOption, TokenOption, connected, refuse
from sslart.cli.service.fitting import fit_on_server
from sslart.estimators._fitted import take_day_first
from sslart.explain._importances import rows

OUT = "model.sslart"
VIGILANCE = 0.9
MOST_ROWS = 1_000_000
N_IMPORTANT = 5
SHOWN_ERROR = 0.05  # of the guarantees, that in the table


class Mapping(StrEnum):
    """Mapping from boxes to classes."""

    evidence = "evidence"
    one_to_many = "one-to-many"
    one_to_one = "one-to-one"


class Voting(StrEnum):
    """Weighting of the votes of an ensemble."""

    weighted = "weighted"
    majority = "majority"


class Scaling(StrEnum):
    """Scaling of numeric features."""

    range = "range"
    rank = "rank"


HOW_CLASSES_FOLLOW = {
    Mapping.evidence: "boxes, features and trees contribute to a prediction, weighted by a regression on the labels",
    Mapping.one_to_many: "a box may have labels of several classes and predicts the most frequent",
    Mapping.one_to_one: "a box has labels of one class only and predicts it",
}


@dataclass(frozen=True)
class ModelOptions:
    """Options of `sslart fit` that set parameters of the model; None where one is not given."""

    vigilance: float
    seed: int
    mapping: Mapping | None = None
    choice: float | None = None
    learning_rate: float | None = None
    match_tracking: float | None = None
    members: int | None = None
    voting: Voting | None = None
    validation: str | float | None = None
    quorum: int | None = None
    scaling: Scaling | None = None
    half_life: str | float | None = None
    max_nodes: str | int | None = None

    def check(self) -> None:
        """Raise a ValueError with a remedy if options are incompatible."""
        for_ensembles = {"--voting": self.voting, "--validation": self.validation, "--quorum": self.quorum}
        given = [name for name, value in for_ensembles.items() if value is not None]
        if given and self.members is None:
            raise ValueError(
                f"{given[0]} is for an ensemble: add the number of its members, such as --members 7, or leave "
                f"{given[0]} out."
            )
        if self.match_tracking is not None and self.mapping is not Mapping.one_to_one:
            raise ValueError(
                "--match-tracking is for one-to-one mapping, which alone keeps a box to one class: add --mapping "
                "one-to-one, or leave --match-tracking out."
            )
        if self.quorum is not None and self.members is not None and self.quorum > self.members:
            raise ValueError(
                f"--quorum {self.quorum} is more than --members {self.members}, so that the ensemble would never "
                f"predict: give a quorum of at most {self.members}."
            )
        if self.validation is not None and self.voting is Voting.majority:
            raise ValueError(
                "--validation is for the class weights of a weighted vote, which a majority vote does not use: leave "
                "--validation out, or give --voting weighted."
            )
        if self.validation is not None and self.mapping is Mapping.evidence:
            raise ValueError(
                "--validation is not for evidence mapping, which measures class weights by leave-one-out: leave "
                "--validation out, or give --mapping one-to-many."
            )

        if self.half_life == AUTO and self.estimator().mapping != Mapping.evidence:
            raise ValueError(
                "--half-life auto is for evidence mapping, whose labels choose it: add --mapping evidence, or give a "
                "number of rows, such as --half-life 10000."
            )

    def estimator(self) -> Any:
        """Return the estimator, not fitted: AutoSSLART, or that of the paper where one of its options is given."""
        given = self._given("mapping", "choice", "learning_rate", "match_tracking")
        others = self._given("scaling", "half_life", "max_nodes")
        if self.max_nodes == NO_LIMIT:
            others["max_nodes"] = None
        if self.members is not None:
            given |= self._given("voting", "validation", "quorum")
            return WESSLART(self.members, vigilance=self.vigilance, random_state=self.seed, **given, **others)
        if given in ({}, {"mapping": Mapping.evidence}):
            return AutoSSLART(self.vigilance, random_state=self.seed, **others)
        return SSLART(self.vigilance, random_state=self.seed, **given, **others)

    def _given(self, *names: str) -> dict[str, Any]:
        """Return those options that are given, as the estimators take them."""
        values = {name: getattr(self, name) for name in names}
        return {
            name: str(value) if isinstance(value, StrEnum) else value
            for name, value in values.items()
            if value is not None
        }


def in_words(model: Any) -> dict[str, str]:
    """Return a description of a fitted model and its predictions, by topic."""
    view, mapping = view_of(model), Mapping(model.mapping)
    how = {"mapping": f"{mapping}: {HOW_CLASSES_FOLLOW[mapping]}"}
    if view.decision_costs is not None:
        how["decision"] = "the class of the lowest expected cost, by the costs in the settings"
    if not view.is_ensemble:
        chosen = "; leave-one-out chooses its settings" if isinstance(model, AutoSSLART) else ""
        return {"model": f"one SSL-ART model{chosen}", **how}
    members = f"{len(view.members)} SSL-ART models that learn the samples in different orders"
    if model.voting == Voting.majority:
        words = {"model": f"VESSL-ART: majority vote of {members}", **how}
    else:
        words = {
            "model": f"WESSL-ART: weighted vote of {members}",
            **how,
            "weight of a vote": f"recall of its class, measured {_measured_on(model, mapping)}",
        }
    if view.quorum > 1:
        words["quorum"] = f"predicts where at least {view.quorum} members vote"
    return words


def _measured_on(model: Any, mapping: Mapping) -> str:
    if mapping is Mapping.evidence:
        return "by leave-one-out"
    if model.validation == LABELLED:
        return "on the labelled samples, which the members have learnt"
    return f"on {100 * model.validation:g} % of the labelled samples, which no member learns"


def fit(
    data: Annotated[str, typer.Argument(help=DATA_HELP)],
    label: Annotated[str, typer.Option(help="column with the classes, blank where not known", metavar="COLUMN")],
    out: Annotated[
        str, typer.Option(help="file for the model; with --server the name of the model there", metavar="FILE")
    ] = OUT,
    id_column: Annotated[str | None, typer.Option("--id", help="column that names samples", metavar="COLUMN")] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(help="columns to leave out: A,B or given often", metavar="COLUMNS")
    ] = None,
    group: Annotated[str | None, typer.Option(help=GROUP_HELP, metavar="COLUMN")] = None,
    category: Annotated[
        list[str] | None, typer.Option(help="columns whose numbers are codes, not amounts", metavar="COLUMNS")
    ] = None,
    use: Annotated[
        list[str] | None,
        typer.Option(help="columns to learn from though they name rows or are free text", metavar="COLUMNS"),
    ] = None,
    vigilance: Annotated[
        float, typer.Option(min=0, max=1, help="ρ: how alike the samples of a box must be")
    ] = VIGILANCE,
    max_nodes: Annotated[Any, typer.Option(parser=max_nodes_of, metavar="N|none", help=MAX_NODES_HELP)] = None,
    scaling: Annotated[
        Scaling | None, typer.Option(help="scale numbers by range or by rank; AutoSSLART chooses where not given")
    ] = None,
    half_life: Annotated[Any, typer.Option(parser=half_life_of, metavar=HALF_LIFE_METAVAR, help=HALF_LIFE_HELP)] = None,
    mapping: Annotated[Mapping | None, typer.Option(help="how classes follow from boxes")] = None,
    choice: Annotated[float | None, typer.Option(help="α above 0: prefers larger boxes as it grows")] = None,
    learning_rate: Annotated[
        float | None, typer.Option(min=0, max=1, help="β above 0: how far a box moves towards a sample")
    ] = None,
    match_tracking: Annotated[
        float | None, typer.Option(min=0, help="δ: how far a box of another class raises vigilance (one-to-one)")
    ] = None,
    members: Annotated[int | None, typer.Option(min=1, help="fit an ensemble of so many members", metavar="M")] = None,
    voting: Annotated[Voting | None, typer.Option(help="of an ensemble: weighted by class, or one each")] = None,
    validation: Annotated[
        Any,
        typer.Option(
            parser=validation_share,
            metavar="labelled|SHARE",
            help="where class weights are measured: on learnt labels, or on a share of them that is held out",
        ),
    ] = None,
    quorum: Annotated[
        int | None, typer.Option(min=1, help="how many members must vote; matters with predict --search-depth")
    ] = None,
    cost: Annotated[list[str] | None, typer.Option(help=COST_HELP, metavar=COST_METAVAR)] = None,
    accuracy: WantedAccuracy = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="of all random choices")] = 0,
    most_rows: Annotated[
        int, typer.Option(min=1, help="of a longer file, learn a random sample: labelled rows first", metavar="N")
    ] = MOST_ROWS,
    encoding: EncodingOption = None,
    use_dask: Annotated[bool, typer.Option("--dask", help=DASK_HELP)] = False,
    scheduler: Annotated[str | None, typer.Option(help=SCHEDULER_HELP, metavar="ADDRESS")] = None,
    server: ServerOption = None,
    token: TokenOption = None,
    wait: Annotated[float, typer.Option(min=0, help=WAIT_HELP, metavar="SECONDS")] = SECONDS_TO_WAIT,
    as_json: Annotated[bool, typer.Option("--json", help=JSON_HELP)] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help=QUIET_HELP)] = False,
) -> None:
    """Learn from a table and write the model. Blanks in the label column are unlabelled samples.

    Without further options the model is AutoSSLART, with nothing to tune. An option of the paper (--mapping one-to-many
    or one-to-one, --choice, --learning-rate, --match-tracking) makes SSL-ART instead, and --members an ensemble of it:
    WESSL-ART, or VESSL-ART with --voting majority. Their mapping is one-to-many where it is not given.

    With --dask the table is many Parquet files, such as 'part-*.parquet', of which no machine needs to hold all: the
    workers of a dask cluster learn all rows. They must have the files at the same place. --most-rows, --encoding and
    --accuracy do not go with it.

    With --server a service fits AutoSSLART to the table, and --out is the name of the new model there.
    """
    check_scheduler(scheduler, use_dask)
    options = ModelOptions(
        vigilance,
        seed,
        mapping,
        choice,
        learning_rate,
        match_tracking,
        members,
        voting,
        validation,
        quorum,
        scaling,
        half_life,
        max_nodes,
    )
    options.check()
    check_wanted(accuracy)
    if out == STANDARD:
        raise ValueError("A model goes to a file: give its name with --out.")
    named = Columns(label, id_column, group, ignore, category, use)
    if server is not None:
        refuse(dask=use_dask, cost=cost, accuracy=accuracy)
        _check_plain(options, most_rows, wait)
        if out == OUT:
            raise ValueError("With --server, --out is the name of the new model: give one, such as --out flowers.")
        with connected(server, token) as client:
            job = fit_on_server(client, data, named, out, encoding)
            model = None if quiet else client.load(out)
        if model is not None:
            found, seconds = job.outcome, job.ended - job.created
            summary = _summary(model, summarise(view_of(model)), found["rows"], found["labels"], seconds, out)
            _show({**summary, "more_labels": None}, [Column(**one) for one in found["columns"]], as_json=as_json)
        return
    check_target(out, data)
    file = ModelFile("fit", out, wait=wait)
    if use_dask:
        if encoding is not None or accuracy is not None:
            raise ValueError("--encoding and --accuracy do not go with --dask: leave them out.")
        with file.owned():
            file.replace_present()
            model, seconds, columns = fit_on_cluster(options.estimator(), data, named, scheduler, quiet=quiet)
            model.set_params(decision_costs=read_costs(cost, model.classes_.tolist()))
            save_model(model, file, LearntRows(group_column=group))
        if not quiet:
            quality = summarise(view_of(model))
            labels = {str(one.label): int(one.n_labels) for one in quality.classes}
            summary = _summary(model, quality, int(quality.n_samples), labels, seconds, out)
            _show({**summary, "more_labels": None}, columns, as_json=as_json)
        return
    with file.owned():
        file.replace_present()
        table = read_training_table(data, named, most_rows, seed, encoding, progress=not quiet)
        costs = read_costs(cost, list(table.label_counts))
        model = options.estimator().set_params(decision_costs=costs)
        start = time.perf_counter()
        model.fit(table.samples, table.labels, **({} if group is None else {"groups": table.groups}))
        seconds = time.perf_counter() - start
        take_day_first(model, table.day_first)
        save_model(model, file, _learnt_rows(model, table, named))
    if quiet:
        return
    quality = measured(model, table.samples, table.labels, table.groups, seed)
    summary = _summary(model, quality, len(table.labels), table.label_counts, seconds, out)
    _show({**summary, "more_labels": more_labels(model, accuracy)}, table.columns, as_json=as_json)


def _check_plain(options: ModelOptions, most_rows: int, wait: float) -> None:
    """Raise a ValueError where an option is given that a service does not take."""
    if options != ModelOptions(VIGILANCE, 0) or most_rows != MOST_ROWS or wait != SECONDS_TO_WAIT:
        raise ValueError(
            "With --server the model is AutoSSLART with nothing to tune: leave out the options of the model, "
            "--most-rows and --wait. sslart.client in Python creates models with all settings."
        )


def _show(summary: dict[str, Any], columns: list[Column], *, as_json: bool) -> None:
    if as_json:
        shown = [one._asdict() for one in columns if one.kind not in ("left out", "label")]
        print_json({**summary, "columns": shown})
    else:
        _print(summary, columns)


def _learnt_rows(model: Any, table: TrainingTable, named: Columns) -> LearntRows:
    """Return the record of the rows, by which they are recognised later: by unique names, else by values."""
    ids = table.ids if table.ids_are_unique else None
    samples = view_of(model).read(table.samples)
    id_column = None if ids is None else named.id_column
    return LearntRows.of_fit(samples, keys_of(samples, table.labels, ids), id_column, named.group)


def _summary(
    model: Any, quality: ModelSummary, n_samples: int, labels: dict[str, int], seconds: float, out: str
) -> dict[str, Any]:
    return {
        "model": out,
        "estimator": type(model).__name__,
        "description": in_words(model),
        "samples": n_samples,
        "unlabelled": n_samples - sum(labels.values()),
        "labels": labels,
        "settings": {
            name: as_options(value) if name == "decision_costs" else value
            for name, value in model.get_params().items()
            if value is not None
        },
        "scaled_by_rank": list(quality.by_rank),
        "evidence": _evidence(model),
        "quality": quality.how,
        "accuracy": None if quality.accuracy is None else vars(quality.accuracy),
        "not_measured": quality.why_not or None,
        "few_labels": {str(one.label): one.n_groups for one in quality.few_labels},
        "never_predicted": [str(one.label) for one in quality.never_predicted],
        "left_out_together": None if quality.together is None else vars(quality.together),
        "beware": quality.warnings(),
        "guarantees": _guarantees(model),
        "important_features": _most_important(model),
        "boxes": int(model.n_nodes_),
        "vigilance_in_use": float(model.vigilance_),
        "seconds": round(seconds, 3),
    }


def _evidence(model: Any) -> dict[str, float] | None:
    """Return the weight of each family of basis functions over all members; None without evidence mapping."""
    members = view_of(model).members
    weights: Counter[str] = Counter()
    for member in members:
        weights.update({name: weight / len(members) for name, weight in member.mapping.family_weights.items()})
    return {name: round(weight, 4) for name, weight in weights.most_common()} or None


def _guarantees(model: Any) -> list[dict[str, Any]] | None:
    """Return the guarantees at several levels of error; None if no labels are stored, or too few."""
    found = measured_guarantees(view_of(model))
    if found is None:
        return None
    return [{**dataclasses.asdict(one), "sentence": one.sentence("rows")} for one in found.levels]


def _most_important(model: Any) -> list[dict[str, str]] | None:
    """Return the most important features with their directions; None without evidence mapping."""
    if not view_of(model).uses_evidence:
        return None
    found = rows(model.feature_importances())[:N_IMPORTANT]
    return [{"feature": name, "share": share, "raises": words} for name, _, share, words in found]


def _with_more_labels(expected: dict[str, Any] | None) -> list[tuple[str, str]]:
    sentences = [] if expected is None else expected["sentences"]
    return [("" if number else "more labels", sentence) for number, sentence in enumerate(sentences)]


def _lowered(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """Return a line on the vigilance in use, where it was lowered to keep to a limit of boxes."""
    in_use, settings = summary["vigilance_in_use"], summary["settings"]
    if in_use >= settings["vigilance"]:
        return []
    words = f"{in_use:.3f} in use: close boxes were joined, so that there are at most {settings['max_nodes']}"
    return [("vigilance", words)]


def _print(summary: dict[str, Any], columns: list[Column]) -> None:
    rows = [(one.name, one.kind, "" if one.missing is None else str(one.missing), one.detail) for one in columns]
    print_table(("column", "taken for", "missing", "values"), rows)
    accuracy = summary["accuracy"]
    lines = [
        ("boxes", f"{summary['boxes']}; {A_BOX}"),
        *_lowered(summary),
        *summary["description"].items(),
        ("samples", f"{summary['samples']}, of which {summary['samples'] - summary['unlabelled']} labelled"),
        ("settings", ", ".join(f"{name}={value}" for name, value in summary["settings"].items())),
    ]
    if summary["scaled_by_rank"]:
        lines.append(("scaled by rank", list_text(summary["scaled_by_rank"], SHOWN_FEATURES)))
    if summary["evidence"]:
        weights = [f"{name} {100 * weight:.0f} %" for name, weight in summary["evidence"].items()]
        lines.append(("evidence from", ", ".join(weights)))
    title = "most important features"
    for one in summary["important_features"] or ():
        lines.append((title, f"{one['feature']} ({one['share']}): {one['raises']}"))
        title = ""
    value = f"not measured: {summary['not_measured']}" if accuracy is None else str(Estimate(**accuracy))
    lines += [
        (f"accuracy ({summary['quality']})", value),
        *_with_more_labels(summary["more_labels"]),
        *summary["beware"].items(),
        *(("guarantee", one["sentence"]) for one in summary["guarantees"] or () if one["max_error"] == SHOWN_ERROR),
        ("time", f"{summary['seconds']:.2f} s"),
        ("written", summary["model"]),
    ]
    show()
    print_table((summary["estimator"], ""), lines)
