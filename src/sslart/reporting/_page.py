"""The report as an HTML page: predict, summarise, draw, and render; only the last step writes a file."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from datetime import date
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sslart._mapping.quality import NO_FINDING
from sslart._mapping.summary import label_counts, present_of
from sslart._mapping.summary import summarise as model_summary
from sslart._utils.files import write_atomically
from sslart._utils.intervals import Estimate
from sslart._utils.optional import optional
from sslart._utils.text import DateName, Day, count_text, number_text, plural, printable
from sslart._utils.validation import check_whole
from sslart.plotting._base import style
from sslart.reporting._pictures import pictures_of
from sslart.reporting._samples import chosen_rows, rule_lines, rule_numbers, sample_lines, states_of
from sslart.reporting._summary import (
    MAX_EXPLAINED,
    Observed,
    confidence_of,
    curve_of,
    guarantee_table,
    importance_lines,
    max_error_text,
    model_rules,
    more_labels,
    observe,
    summarise,
)
from sslart.rules import RuleSet, rules_of

STATES = ("wrong", "abstained", "novel", "right")


def report(
    model: Any,
    X: Any,
    y: Any,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    held_out: bool | None = None,
    rules: RuleSet | None = None,
    sample_names: Sequence[Any] | None = None,
    sample_numbers: Sequence[int] | None = None,
    max_rules: int = 200,
    max_samples: int = 200,
) -> Path:
    """Write a report on a model and its predictions: one HTML file that needs no network.

    It shows the data and labels, the quality of the predictions with 95 % intervals, their calibration, the expected
    accuracy with more labels, the limits of the model, feature importances, a few rules that agree with the model, the
    rules of its boxes (to sort and filter), plots, and an explanation of the prediction for each selected sample.
    Quality is measured on samples of known class that the model has not learnt. If there are none, it is measured by
    leave-one-out on the labels stored by the model, with evidence mapping.

    Parameters
    ----------
    model : AutoSSLART, SSLART, FuzzyARTMAP or WESSLART
        A fitted classifier. It is not changed.
    X : array-like of shape (n_samples, n_features)
        The samples to report on. Their values are stored in the file.
    y : array-like of shape (n_samples,), or None
        Their true classes; -1, None or NaN where not known.
    path : str or path
        The file to write, with the extension .html. An existing file is replaced atomically.
    title : str, default=None
        Headline. None: one with the name of the model.
    held_out : bool, default=None
        False: the model has learnt these samples, and no quality is measured on them. True: it has not, as stated in
        the report. Samples stored by the model with a label are always recognised and excluded.
    rules : RuleSet, default=None
        Box rules to show, such as ``model.rules(kind="boxes", levels=3)``. None: ``model.rules(kind="boxes")``.
    sample_names : sequence of shape (n_samples,), default=None
        Names of the samples, shown beside their numbers.
    sample_numbers : sequence of int of shape (n_samples,), default=None
        Distinct numbers of the samples, such as their rows in a file. None: 1, 2, ...
    max_rules : int, default=200
        Maximum number of box rules to show, those with most samples.
    max_samples : int, default=200
        Maximum number of samples to explain: wrong predictions first, then abstentions, then novel ones, then evenly
        spaced others.

    Returns
    -------
    pathlib.Path
        The file written.

    Examples
    --------
    >>> import tempfile, sslart
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> data = load_iris(as_frame=True)
    >>> y = data.target_names[data.target]
    >>> model = sslart.SSLART(vigilance=0.7, random_state=0).fit(data.data[::2], y[::2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = sslart.report(model, data.data[1::2], y[1::2], Path(folder) / "iris.html", held_out=True)
    ...     "Limits of this model" in file.read_text(encoding="utf-8")
    True
    """
    target = check_page_path(path)
    for module in ("jinja2", "matplotlib.pyplot"):
        optional(module, "report")
    n_rules = check_whole("report", "max_rules", max_rules) or 1
    n_samples = check_whole("report", "max_samples", max_samples) or 1
    observed = observe(model, X, y, held_out=held_out)
    shown = rules_of(model, kind="boxes") if rules is None else _check_rules(rules, observed)
    names = None if sample_names is None else [str(name) for name in sample_names]
    if names is not None and len(names) != len(observed):
        raise ValueError(f"X has {len(observed)} samples and sample_names {len(names)}: give one name for each sample.")
    numbers = [int(number) for number in (range(1, len(observed) + 1) if sample_numbers is None else sample_numbers)]
    if len(numbers) != len(observed) or len(set(numbers)) < len(observed):
        raise ValueError(f"sample_numbers must be {len(observed)} different numbers, one for each sample of X.")
    states = [states_of(observed, row) for row in range(len(observed))]
    left_out, curve = observed.view.left_out, curve_of(observed)
    own_labels = model_summary(observed.view)
    labels = dict.fromkeys([*observed.classes, *(one.label for one in own_labels.quality.classes)])
    summary = summarise(observed)
    measured = {
        "confidence": confidence_of(observed, None if left_out is None else left_out.drawn),
        "guarantees": guarantee_table(observed),
        "more_labels": more_labels(curve),
        "few_rules": model_rules(observed, X),
    }
    rows = chosen_rows(states, n_samples)
    samples = sample_lines(observed, X, rows, numbers, names, rule_numbers(shown))
    important, n_less_important = importance_lines(observed)
    page = (
        environment()
        .get_template("report.html.jinja")
        .render(
            title=title or f"Report on {observed.view.name}",
            made=date.today().isoformat(),
            version=version("sslart"),
            model=_described(observed),
            held_out=held_out,
            classes=observed.classes,
            colours={label: style(index).colour for index, label in enumerate(labels)},
            summary=summary,
            own_labels=own_labels,
            left_out=own_labels.quality,
            no_finding=NO_FINDING,
            important=important,
            importance_notes=observed.importances.notes() if important else (),
            n_less_important=n_less_important,
            max_explained=MAX_EXPLAINED,
            **measured,
            numbers=plain_numbers({**summary, **measured, "own_labels": own_labels.to_dict()}),
            rules=rule_lines(shown, n_rules),
            n_rules=len(shown),
            pictures=pictures_of(observed, shown, X, y, curve),
            samples=samples,
            state_counts={state: sum(state in one["states"] for one in samples) for state in STATES},
        )
    )
    write_atomically(target, [page.encode()])
    return target


def plain_numbers(value: Any) -> Any:
    """Convert numbers for JSON: shares and other dataclasses become dicts."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, dict):
        return {name: plain_numbers(one) for name, one in value.items()}
    return [plain_numbers(one) for one in value] if isinstance(value, list | tuple) else value


def check_page_path(path: str | os.PathLike[str]) -> Path:
    """Validate the path of a page to write."""
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder: give the name of a file, such as {target / 'report.html'}.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {target.parent}: make it first, or give another path.")
    if target.suffix.lower() not in (".html", ".htm"):
        raise ValueError(
            f"{target.name} is not the name of a web page, which the report is: give a name that ends in .html. For a "
            "PDF, open the page in a browser and print it to a file."
        )
    return target


def _check_rules(rules: Any, observed: Observed) -> RuleSet:
    if not isinstance(rules, RuleSet):
        raise TypeError(f"rules must be a RuleSet, as model.rules(kind='boxes') gives, got a {type(rules).__name__}.")
    if not rules or list(rules.feature_names) != observed.view.feature_names:
        raise ValueError("rules has no rule of this model: give model.rules(kind='boxes'), filtered less.")
    return rules


def _described(observed: Observed) -> dict[str, Any]:
    """Return a description of the model in a few numbers."""
    view = observed.view
    n_members = len(view.members)
    return {
        "kind": view.name,
        "uses_evidence": view.uses_evidence,
        "abstain_below": view.abstain_below,
        "decides_by_costs": view.decision_costs is not None,
        "max_error": max_error_text(view.max_error, view.classes.tolist()),
        "n_members": n_members,
        "n_learnt": view.members[0].n_samples,
        "present": present_of(view),
        "keeps_labels": view.left_out is not None,
        "n_labels": label_counts(view).sum().item(),
        "n_unlabelled": (view.members[0].support.sum() - view.members[0].counts.sum()).item(),
        "parameters": {name: value for name, value in observed.model.get_params().items() if value is not None},
    }


@cache
def environment() -> Any:
    """Return the Jinja environment, which escapes texts and makes every character visible."""
    jinja2 = optional("jinja2", "report")
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("sslart.reporting", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "number": number_text,
        "value_of": _value_of,
        "percent": _percent,
        "interval": _interval,
        "count": count_text,
        "counted": plural,
    }
    return made


def _visible(value: Any) -> Any:
    """Return a text with every character visible; other values, such as Markup, are unchanged."""
    return printable(value) if type(value) is str else value


def _value_of(value: float, feature: str) -> str:
    """Return the text of a feature's value, as a date for a column of dates."""
    return str(Day(value)) if isinstance(feature, DateName) else number_text(value)


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}\N{NO-BREAK SPACE}%"


def _interval(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return "no samples"
    return f"{100 * estimate.low:.1f} to {_percent(estimate.high)}"
