"""The command `sslart fit`: fit a model to a partly labelled table."""

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
    Mapping.evidence: "ridge regression on the labels weighs what boxes, features and trees contribute to a prediction",
    Mapping.one_to_many: "a box may contain labels of several classes; it predicts the most frequent",
    Mapping.one_to_one: "a box contains labels of one class only; it predicts this class",
}


def check_options(given: dict[str, Any]) -> None:
    """Raise a ValueError with a remedy for incompatible model options."""
    alone = next((name for name in ("voting", "validation", "quorum") if name in given), None)
    members, quorum = given.get("members"), given.get("quorum")
    if alone is not None and members is None:
        raise ValueError(
            f"--{alone} is for ensembles: add the number of members, such as --members 7, or leave --{alone} out."
        )
    if "match_tracking" in given and given.get("mapping") is not Mapping.one_to_one:
        raise ValueError(
            "--match-tracking is for one-to-one mapping, in which each box has one class: add --mapping one-to-one, "
            "or leave --match-tracking out."
        )
    if quorum is not None and quorum > members:
        raise ValueError(
            f"--quorum {quorum} is greater than --members {members}, so the ensemble would always abstain: give "
            f"at most {members}."
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
            "--half-life auto is for evidence mapping, which chooses it by leave-one-out: add --mapping evidence, or "
            "give a number of rows, such as --half-life 10000."
        )


def estimator_of(given: dict[str, Any]) -> Any:
    """Return the unfitted estimator: AutoSSLART, or one of the paper's if an option of those is given."""
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
    """Describe a fitted model and how it predicts, by topic."""
    view, mapping = view_of(model), Mapping(model.mapping)
    how = {"mapping": f"{mapping}: {HOW_CLASSES_FOLLOW[mapping]}"}
    if view.decision_costs is not None:
        how["decision"] = "the class with the lowest expected cost; the costs are in the settings"
    if not view.is_ensemble:
        chosen = "; settings chosen by leave-one-out" if isinstance(model, AutoSSLART) else ""
        return {"model": f"a single SSL-ART model{chosen}", **how}
    members = f"{len(view.members)} SSL-ART models, each trained on the samples in a different order"
    if model.voting == Voting.majority:
        words = {"model": f"VESSL-ART: majority vote of {members}", **how}
    else:
        words = {
            "model": f"WESSL-ART: weighted vote of {members}",
            **how,
            "weight of a vote": f"recall of its class, measured {_measured_on(model, mapping)}",
        }
    if view.quorum > 1:
        words["quorum"] = f"predicts if at least {view.quorum} members vote"
    return words


def _measured_on(model: Any, mapping: Mapping) -> str:
    if mapping is Mapping.evidence:
        return "by leave-one-out"
    if model.validation == option.LABELLED:
        return "on the labelled training samples"
    return f"on {100 * model.validation:g} % of the labelled samples, held out from training"


def fit(
    data: option.Data,
    label: Annotated[str, option.column("column with the classes, blank where unknown")],
    out: Annotated[str, option.file("model file to write; with --server, the name of the model there")] = OUT,
    id_column: Annotated[str | None, option.column("column of row IDs, not a feature", "--id")] = None,
    ignore: Annotated[list[str] | None, option.columns("columns to leave out: A,B or repeat the option")] = None,
    group: Annotated[str | None, option.column(option.GROUP_HELP)] = None,
    chosen: Annotated[
        str | None,
        option.column("column that is not blank where a label was chosen, not drawn at random"),
    ] = None,
    audit: Annotated[
        str | None,
        option.column("column that is not blank where a row is set aside: never learnt, such rows measure the quality"),
    ] = None,
    category: Annotated[list[str] | None, option.columns("numeric columns that are categorical codes")] = None,
    number: Annotated[
        list[str] | None,
        option.columns("numeric columns that look like codes or have units; cells without a number are blank"),
    ] = None,
    use: Annotated[
        list[str] | None, option.columns("columns to use as features although they look like IDs or free text")
    ] = None,
    vigilance: Annotated[float, option.parameter("vigilance")] = VIGILANCE,
    max_nodes: Annotated[
        Any, option.max_nodes("maximum number of boxes: beyond it, close boxes are merged and vigilance is lowered")
    ] = None,
    scaling: Annotated[
        Scaling | None, typer.Option(help="scale numbers by range or by rank; by default AutoSSLART chooses")
    ] = None,
    half_life: Annotated[
        Any,
        option.half_life(
            "in update and watch, the number of rows after which a row counts half; auto: chosen by leave-one-out"
        ),
    ] = None,
    mapping: Annotated[Mapping | None, typer.Option(help="how boxes predict classes")] = None,
    choice: Annotated[float | None, option.parameter("choice")] = None,
    learning_rate: Annotated[float | None, option.parameter("learning_rate")] = None,
    match_tracking: Annotated[float | None, option.parameter("match_tracking")] = None,
    members: Annotated[
        int | None, option.parameter("n_members", "fit an ensemble with this number of members", "M")
    ] = None,
    voting: Annotated[Voting | None, typer.Option(help="for ensembles: class-weighted or majority vote")] = None,
    validation: Annotated[
        Any,
        option.validation(
            "for ensembles: measure class weights on the training labels, or on a held-out share of them"
        ),
    ] = None,
    quorum: Annotated[
        int | None,
        option.parameter(
            "quorum", "for ensembles: members that must vote; members abstain only with predict --search-depth"
        ),
    ] = None,
    cost: option.Cost = None,
    accuracy: option.Accuracy = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="random seed")] = 0,
    most_rows: Annotated[
        int, option.count("of a longer file, use a random sample of this size; labelled rows first")
    ] = MOST_ROWS,
    encoding: option.Encoding = None,
    use_dask: option.UseDask = False,
    scheduler: option.Scheduler = None,
    server: option.Server = None,
    token: option.Token = None,
    wait: option.Wait = option.SECONDS_TO_WAIT,
    as_json: option.Json = False,
    quiet: option.Quiet = False,
) -> None:
    """Fit a model to a table and write it to a file. Rows with a blank label are unlabelled samples.

    By default the model is AutoSSLART, which needs no tuning. Any option of the paper (--mapping one-to-many or
    one-to-one, --choice, --learning-rate, --match-tracking) selects SSL-ART instead, and --members an ensemble of it:
    WESSL-ART, or VESSL-ART with --voting majority. The default mapping of these is one-to-many.

    With --dask, DATA is a set of Parquet files, such as 'part-*.parquet', that may be larger than memory: the workers
    of a dask cluster learn all rows. Every worker must find the files under the same path. --most-rows, --encoding,
    --number and --accuracy cannot be combined with it.

    With --server, a service fits AutoSSLART to the table, and --out is the name of the new model there.
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
        raise ValueError("The model cannot be written to standard output: give a file name with --out.")
    named = ColumnRoles(label, id_column, group, ignore, category, use, number, chosen=chosen, audit=audit)
    if server is not None:
        refuse(dask=use_dask, cost=cost, accuracy=accuracy, number=number, chosen=chosen, audit=audit)
        if given or (vigilance, seed, most_rows, wait) != (VIGILANCE, 0, MOST_ROWS, option.SECONDS_TO_WAIT):
            raise ValueError(
                "With --server the model is AutoSSLART with default settings: leave out the options of the model, "
                "--most-rows and --wait. sslart.client in Python can create models with any settings."
            )
        if out == OUT:
            raise ValueError("With --server, --out is the name of the new model: give one, such as --out flowers.")
        with connected(server, token) as client:
            fitted = _fit_with_service(client, data, named, out, encoding, quiet=quiet and not as_json)
    else:
        check_target(out, data)
        if use_dask and any(one is not None for one in (encoding, accuracy, number, chosen, audit)):
            raise ValueError(
                "--encoding, --accuracy, --number, --chosen and --audit cannot be combined with --dask: leave them out."
            )
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
    with busy("computing feature importances", shown=not quiet):
        summary, columns = _summary(fitted, out), fitted.columns
    if as_json:
        print_json({**summary, "columns": [one._asdict() for one in columns if one.kind not in ("left out", "label")]})
    else:
        _print(summary, columns)


class Fitted(NamedTuple):
    """A fitted model with its training data in numbers and its quality."""

    model: Any
    columns: list[ColumnSummary]
    n_samples: int
    labels: dict[str, int]  # number of labels by class
    seconds: float
    quality: ModelSummary
    more_labels: dict[str, Any] | None = None


def _fit_with_service(
    client: Any, data: str, named: ColumnRoles, name: str, encoding: str | None, *, quiet: bool
) -> Fitted | None:
    """Fit a model on a service; return None with --quiet."""
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
    """Fit a model on a cluster and write it; return None with --quiet."""
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
    """Fit a model in this process and write it; return None with --quiet."""
    with file.owned():
        file.replace_present()
        whole = read_training_table(data, named, most_rows, seed, encoding, progress=not quiet)
        table, aside = whole.divided()
        model = estimator.set_params(decision_costs=option.read_costs(cost, list(table.label_counts)))
        start = time.perf_counter()
        with busy(f"learning {len(table.labels):,} rows", shown=not quiet):
            model.fit(table.samples, table.labels, **table.beside)
        seconds = time.perf_counter() - start
        take_forms(model, table.day_first, table.units, table.numbers)
        if aside is not None:
            model.add_audit(aside.samples, aside.labels, groups=aside.groups)
        with busy(f"writing {file.target}", shown=not quiet):
            file.replace(model, _learnt_rows(model, whole, named))
    if quiet and not as_json:
        return None
    with busy("measuring accuracy", shown=not quiet):
        quality = measured(model, table.samples, table.labels, table.groups, seed)
        expected = more_labels(model, accuracy)
    return Fitted(model, table.columns, len(table.labels), table.label_counts, seconds, quality, expected)


def _learnt_rows(model: Any, table: TrainingTable, named: ColumnRoles) -> LearntRows:
    """Return the record that recognises these rows later: by unique IDs, else by values."""
    ids = table.ids if table.ids_are_unique else None
    samples = view_of(model).read(table.samples)
    id_column = None if ids is None else named.id_column
    return LearntRows.of_fit(samples, keys_of(samples, table.labels, ids), id_column, named.group)


def _summary(fitted: Fitted, out: str) -> dict[str, Any]:
    model, quality, labels = fitted.model, fitted.quality, fitted.labels
    view = view_of(model)
    promised = measured_guarantees(view)  # None if the model stores too few labels
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
    """Return the mean weight of each family of basis functions over all members; None without evidence mapping."""
    members = view_of(model).members
    weights: Counter[str] = Counter()
    for member in members:
        weights.update({name: weight / len(members) for name, weight in member.mapping.family_weights.items()})
    return {name: round(weight, 4) for name, weight in weights.most_common()} or None


def _print(summary: dict[str, Any], columns: list[ColumnSummary]) -> None:
    rows = [(one.name, one.kind, "" if one.missing is None else str(one.missing), one.detail) for one in columns]
    print_table(("column", "read as", "missing", "values"), rows)
    in_use, settings, expected = summary["vigilance_in_use"], summary["settings"], summary["more_labels"]
    lines = [
        ("boxes", f"{summary['boxes']}; {A_BOX}"),
        *summary["description"].items(),
        ("samples", f"{summary['samples']}, of which {summary['samples'] - summary['unlabelled']} labelled"),
        ("settings", ", ".join(f"{name}={value}" for name, value in settings.items())),
    ]
    if in_use < settings["vigilance"]:
        most = settings["max_nodes"]
        lowered = f"{in_use:.3f} in use: lowered, and close boxes merged, to keep at most {most} boxes"
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
