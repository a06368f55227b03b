"""`sslart fit`: learn a model from a partly labelled table."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import asdict
from enum import StrEnum
from itertools import chain, repeat
from typing import Annotated, Any, NamedTuple

import typer

from sslart import SSLART, WESSLART, AutoSSLART
from sslart._mapping.conformal import measured_guarantees
from sslart._mapping.model_view import view_of
from sslart._mapping.quality import NOT_SHOWN
from sslart._mapping.summary import SHOWN_FEATURES, ModelSummary, summarise
from sslart._tables.columns import ColumnSummary
from sslart._tables.training_table import ColumnRoles, TrainingTable, read_training_table
from sslart._utils.files import STANDARD
from sslart._utils.text import list_text
from sslart._utils.validation import AUTO
from sslart.cli import _options as option
from sslart.cli._cluster import fit_on_cluster
from sslart.cli._model_file import ModelFile
from sslart.cli._output import A_BOX, check_target, print_json, print_table, show
from sslart.cli._progress import busy
from sslart.cli._quality import measured, more_labels
from sslart.cli._remote import connected, fit_on_server, refuse
from sslart.cli._seen_rows import LearntRows, keys_of
from sslart.estimators._fitted import take_forms
from sslart.estimators._parameters import parameters_of

OUT = "model.sslart"
VIGILANCE: float = parameters_of(AutoSSLART)["vigilance"].default
MOST_ROWS = 1_000_000
N_IMPORTANT = 5
OF_PAPER = ("choice", "learning_rate", "match_tracking")


Mapping = StrEnum("Mapping", {"evidence": "evidence", "one_to_many": "one-to-many", "one_to_one": "one-to-one"})
Voting = StrEnum("Voting", ["weighted", "majority"])
Scaling = StrEnum("Scaling", ["range", "rank"])

HOW_CLASSES_FOLLOW = {
    Mapping.evidence: "boxes, features and trees contribute to a prediction, weighted by a regression on the labels",
    Mapping.one_to_many: "a box may have labels of several classes and predicts the most frequent",
    Mapping.one_to_one: "a box has labels of one class only and predicts it",
}


def check_options(given: dict[str, Any]) -> None:
    """Raise a ValueError with a remedy if options of the model that are given are incompatible."""
    alone = next((name for name in ("voting", "validation", "quorum") if name in given), None)
    members, quorum = given.get("members"), given.get("quorum")
    if alone is not None and members is None:
        raise ValueError(
            f"--{alone} is for an ensemble: add the number of its members, such as --members 7, or leave --{alone} out."
        )
    if "match_tracking" in given and given.get("mapping") is not Mapping.one_to_one:
        raise ValueError(
            "--match-tracking is for one-to-one mapping, which alone keeps a box to one class: add --mapping "
            "one-to-one, or leave --match-tracking out."
        )
    if quorum is not None and quorum > members:
        raise ValueError(
            f"--quorum {quorum} is more than --members {members}, so that the ensemble would never predict: give a "
            f"quorum of at most {members}."
        )
    if "validation" in given and given.get("voting") is Voting.majority:
        raise ValueError(
            "--validation is for the class weights of a weighted vote, which a majority vote does not use: leave "
            "--validation out, or give --voting weighted."
        )
    if "validation" in given and given.get("mapping") is Mapping.evidence:
        raise ValueError(
            "--validation is not for evidence mapping, which measures class weights by leave-one-out: leave "
            "--validation out, or give --mapping one-to-many."
        )
    if given.get("half_life") == AUTO and estimator_of({"vigilance": VIGILANCE, **given}).mapping != Mapping.evidence:
        raise ValueError(
            "--half-life auto is for evidence mapping, whose labels choose it: add --mapping evidence, or give a "
            "number of rows, such as --half-life 10000."
        )


def estimator_of(given: dict[str, Any]) -> Any:
    """Return the estimator, not fitted: AutoSSLART, or that of the paper where one of its options is given."""
    values: dict[str, Any] = {
        name: str(value) if isinstance(value, StrEnum) else value for name, value in given.items()
    }
    if values.get("max_nodes") == option.NO_LIMIT:
        values["max_nodes"] = None
    if "members" in values:
        return WESSLART(values.pop("members"), **values)
    if values.get("mapping", Mapping.evidence) == Mapping.evidence and values.keys().isdisjoint(OF_PAPER):
        values.pop("mapping", None)
        return AutoSSLART(**values)
    return SSLART(**values)


def described_model(model: Any) -> dict[str, str]:
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
    if model.validation == option.LABELLED:
        return "on the labelled samples, which the members have learnt"
    return f"on {100 * model.validation:g} % of the labelled samples, which no member learns"


def fit(
    data: option.Data,
    label: Annotated[str, option.column("column with the classes, blank where not known")],
    out: Annotated[str, option.file("file for the model; with --server the name of the model there")] = OUT,
    id_column: Annotated[str | None, option.column("column that names samples", "--id")] = None,
    ignore: Annotated[list[str] | None, option.columns("columns to leave out: A,B or given often")] = None,
    group: Annotated[str | None, option.column(option.GROUP_HELP)] = None,
    category: Annotated[list[str] | None, option.columns("columns whose numbers are codes, not amounts")] = None,
    number: Annotated[
        list[str] | None,
        option.columns("columns of quantities, though they look like codes or have units; other texts are blank"),
    ] = None,
    use: Annotated[
        list[str] | None, option.columns("columns to learn from though they name rows or are free text")
    ] = None,
    vigilance: Annotated[float, option.parameter("vigilance")] = VIGILANCE,
    max_nodes: Annotated[
        Any, option.max_nodes("the most boxes: close ones are joined, and vigilance lowered, where more are needed")
    ] = None,
    scaling: Annotated[
        Scaling | None, typer.Option(help="scale numbers by range or by rank; AutoSSLART chooses where not given")
    ] = None,
    half_life: Annotated[
        Any,
        option.half_life("in update and watch, a row counts half after so many further rows; auto: the labels choose"),
    ] = None,
    mapping: Annotated[Mapping | None, typer.Option(help="how classes follow from boxes")] = None,
    choice: Annotated[float | None, option.parameter("choice")] = None,
    learning_rate: Annotated[float | None, option.parameter("learning_rate")] = None,
    match_tracking: Annotated[float | None, option.parameter("match_tracking")] = None,
    members: Annotated[int | None, option.parameter("n_members", "fit an ensemble of so many members", "M")] = None,
    voting: Annotated[Voting | None, typer.Option(help="of an ensemble: weighted by class, or one each")] = None,
    validation: Annotated[
        Any,
        option.validation("where class weights are measured: on learnt labels, or on a share of them that is held out"),
    ] = None,
    quorum: Annotated[
        int | None, option.parameter("quorum", "how many members must vote; matters with predict --search-depth")
    ] = None,
    cost: option.Cost = None,
    accuracy: option.Accuracy = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="of all random choices")] = 0,
    most_rows: Annotated[int, option.count("of a longer file, learn a random sample: labelled rows first")] = MOST_ROWS,
    encoding: option.Encoding = None,
    use_dask: option.UseDask = False,
    scheduler: option.Scheduler = None,
    server: option.Server = None,
    token: option.Token = None,
    wait: option.Wait = option.SECONDS_TO_WAIT,
    as_json: option.Json = False,
    quiet: option.Quiet = False,
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
    option.check_scheduler(scheduler, use_dask)
    options = {
        "mapping": mapping,
        "choice": choice,
        "learning_rate": learning_rate,
        "match_tracking": match_tracking,
        "members": members,
        "voting": voting,
        "validation": validation,
        "quorum": quorum,
        "scaling": scaling,
        "half_life": half_life,
        "max_nodes": max_nodes,
    }
    given = {name: value for name, value in options.items() if value is not None}
    check_options(given)
    option.check_wanted(accuracy)
    if out == STANDARD:
        raise ValueError("A model goes to a file: give its name with --out.")
    named = ColumnRoles(label, id_column, group, ignore, category, use, number)
    if server is not None:
        refuse(dask=use_dask, cost=cost, accuracy=accuracy, number=number)
        if given or (vigilance, seed, most_rows, wait) != (VIGILANCE, 0, MOST_ROWS, option.SECONDS_TO_WAIT):
            raise ValueError(
                "With --server the model is AutoSSLART with nothing to tune: leave out the options of the model, "
                "--most-rows and --wait. sslart.client in Python creates models with all settings."
            )
        if out == OUT:
            raise ValueError("With --server, --out is the name of the new model: give one, such as --out flowers.")
        with connected(server, token) as client:
            fitted = _fit_with_service(client, data, named, out, encoding, quiet=quiet and not as_json)
    else:
        check_target(out, data)
        if use_dask and any(one is not None for one in (encoding, accuracy, number)):
            raise ValueError("--encoding, --accuracy and --number do not go with --dask: leave them out.")
        estimator = estimator_of({"vigilance": vigilance, "random_state": seed, **given})
        file = ModelFile("fit", out, wait=wait)
        if use_dask:
            fitted = _fit_with_dask(file, estimator, data, named, cost, scheduler, quiet=quiet, as_json=as_json)
        else:
            fitted = _fit_here(
                file, estimator, data, named, cost, accuracy, seed, most_rows, encoding, quiet=quiet, as_json=as_json
            )
    if fitted is None:
        return
    with busy("measuring what features contribute", shown=not quiet):
        summary, columns = _summary(fitted, out), fitted.columns
    if as_json:
        print_json({**summary, "columns": [one._asdict() for one in columns if one.kind not in ("left out", "label")]})
    else:
        _print(summary, columns)


class Fitted(NamedTuple):
    """A fitted model, what it was fitted to, and how good it is."""

    model: Any
    columns: list[ColumnSummary]
    n_samples: int
    labels: dict[str, int]  # by class
    seconds: float
    quality: ModelSummary
    more_labels: dict[str, Any] | None = None


def _fit_with_service(
    client: Any, data: str, named: ColumnRoles, name: str, encoding: str | None, *, quiet: bool
) -> Fitted | None:
    """Let a service fit a model under a name; None if nothing is to be said of it."""
    job = fit_on_server(client, data, named, name, encoding)
    if quiet:
        return None
    model, found = client.load(name), job.outcome
    columns = [ColumnSummary(**one) for one in found["columns"]]
    seconds = job.ended - job.created
    return Fitted(model, columns, found["rows"], found["labels"], seconds, summarise(view_of(model)))


def _fit_with_dask(
    file: ModelFile,
    estimator: Any,
    data: str,
    named: ColumnRoles,
    cost: list[str] | None,
    scheduler: str | None,
    *,
    quiet: bool,
    as_json: bool,
) -> Fitted | None:
    """Fit a model on a cluster and write it; None if nothing is to be said of it."""
    with file.owned():
        file.replace_present()
        model, seconds, columns = fit_on_cluster(estimator, data, named, scheduler, quiet=quiet)
        model.set_params(decision_costs=option.read_costs(cost, model.classes_.tolist()))
        file.replace(model, LearntRows(group_column=named.group))
    if quiet and not as_json:
        return None
    quality = summarise(view_of(model))
    labels = {str(one.label): int(one.n_labels) for one in quality.classes}
    return Fitted(model, columns, int(quality.n_samples), labels, seconds, quality)


def _fit_here(
    file: ModelFile,
    estimator: Any,
    data: str,
    named: ColumnRoles,
    cost: list[str] | None,
    accuracy: float | None,
    seed: int,
    most_rows: int,
    encoding: str | None,
    *,
    quiet: bool,
    as_json: bool,
) -> Fitted | None:
    """Fit a model in this process and write it; None if nothing is to be said of it."""
    with file.owned():
        file.replace_present()
        table = read_training_table(data, named, most_rows, seed, encoding, progress=not quiet)
        model = estimator.set_params(decision_costs=option.read_costs(cost, list(table.label_counts)))
        start = time.perf_counter()
        with busy(f"learning {len(table.labels):,} rows", shown=not quiet):
            model.fit(table.samples, table.labels, **({} if named.group is None else {"groups": table.groups}))
        seconds = time.perf_counter() - start
        take_forms(model, table.day_first, table.units, table.numbers)
        with busy(f"writing {file.target}", shown=not quiet):
            file.replace(model, _learnt_rows(model, table, named))
    if quiet and not as_json:
        return None
    with busy("measuring accuracy", shown=not quiet):
        quality = measured(model, table.samples, table.labels, table.groups, seed)
        expected = more_labels(model, accuracy)
    return Fitted(model, table.columns, len(table.labels), table.label_counts, seconds, quality, expected)


def _learnt_rows(model: Any, table: TrainingTable, named: ColumnRoles) -> LearntRows:
    """Return the record of the rows, by which they are recognised later: by unique names, else by values."""
    ids = table.ids if table.ids_are_unique else None
    samples = view_of(model).read(table.samples)
    id_column = None if ids is None else named.id_column
    return LearntRows.of_fit(samples, keys_of(samples, table.labels, ids), id_column, named.group)


def _summary(fitted: Fitted, out: str) -> dict[str, Any]:
    model, quality, labels = fitted.model, fitted.quality, fitted.labels
    view = view_of(model)
    promised = measured_guarantees(view)  # None if no labels are stored, or too few
    important = model.feature_importances().rows()[:N_IMPORTANT] if view.uses_evidence else None
    return {
        "model": out,
        "estimator": type(model).__name__,
        "description": described_model(model),
        "samples": fitted.n_samples,
        "unlabelled": fitted.n_samples - sum(labels.values()),
        "labels": labels,
        "settings": {
            name: option.as_options(value) if name == "decision_costs" else value
            for name, value in model.get_params().items()
            if value is not None
        },
        "scaled_by_rank": list(quality.by_rank),
        "evidence": _evidence(model),
        "quality": quality.quality.to_dict(),
        "few_labels": {str(one.label): one.n_groups for one in quality.few_labels},
        "never_predicted": [str(one.label) for one in quality.never_predicted],
        "remedy": quality.remedy and asdict(quality.remedy),
        "beware": quality.warnings(),
        "guarantees": promised and [{**asdict(one), "sentence": one.sentence("rows")} for one in promised.levels],
        "important_features": important
        and [{"feature": name, "share": share, "raises": words} for name, _, share, words in important],
        "boxes": int(model.n_nodes_),
        "vigilance_in_use": float(model.vigilance_),
        "seconds": round(fitted.seconds, 3),
        "more_labels": fitted.more_labels,
    }


def _evidence(model: Any) -> dict[str, float] | None:
    """Return the weight of each family of basis functions over all members; None without evidence mapping."""
    members = view_of(model).members
    weights: Counter[str] = Counter()
    for member in members:
        weights.update({name: weight / len(members) for name, weight in member.mapping.family_weights.items()})
    return {name: round(weight, 4) for name, weight in weights.most_common()} or None


def _print(summary: dict[str, Any], columns: list[ColumnSummary]) -> None:
    rows = [(one.name, one.kind, "" if one.missing is None else str(one.missing), one.detail) for one in columns]
    print_table(("column", "taken for", "missing", "values"), rows)
    in_use, settings, expected = summary["vigilance_in_use"], summary["settings"], summary["more_labels"]
    lines = [
        ("boxes", f"{summary['boxes']}; {A_BOX}"),
        *summary["description"].items(),
        ("samples", f"{summary['samples']}, of which {summary['samples'] - summary['unlabelled']} labelled"),
        ("settings", ", ".join(f"{name}={value}" for name, value in settings.items())),
    ]
    if in_use < settings["vigilance"]:
        most = settings["max_nodes"]
        lowered = f"{in_use:.3f} in use: close boxes were joined, so that there are at most {most}"
        lines.insert(1, ("vigilance", lowered))
    if summary["scaled_by_rank"]:
        lines.append(("scaled by rank", list_text(summary["scaled_by_rank"], SHOWN_FEATURES)))
    if summary["evidence"]:
        weights = [f"{name} {100 * weight:.0f} %" for name, weight in summary["evidence"].items()]
        lines.append(("evidence from", ", ".join(weights)))
    title = "most important features"
    for one in (summary["important_features"] or ()) if summary["quality"]["skill"] != NOT_SHOWN else ():
        lines.append((title, f"{one['feature']} ({one['share']}): {one['raises']}"))
        title = ""
    lines += [
        *summary["quality"]["text"].items(),
        *zip(chain(["more labels"], repeat("")), expected["sentences"] if expected else (), strict=False),
        *summary["beware"].items(),
        ("time", f"{summary['seconds']:.2f} s"),
        ("written", summary["model"]),
    ]
    show()
    print_table((summary["estimator"], ""), lines)
