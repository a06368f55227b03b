"""The report as a page: predict, summarise, draw and render in separate steps; only the last one writes."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from datetime import date
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sslart._utils.files import write_atomically
from sslart._utils.optional import optional
from sslart._utils.params import check_whole
from sslart._utils.text import number_text, plural
from sslart.metrics._quality import Estimate
from sslart.plotting._style import style
from sslart.reporting._pictures import pictures_of
from sslart.reporting._rules import rule_lines, rule_numbers
from sslart.reporting._samples import chosen_rows, sample_lines, states_of
from sslart.reporting._summary import Observed, observe, summarise
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
    max_rules: int = 200,
    max_samples: int = 200,
) -> Path:
    """Write a report on a model and its predictions: one HTML file that needs no network.

    It shows the data and labels, the quality of the predictions with 95 % intervals, the limits of the model, the rules
    (to sort and filter), pictures, and an explanation of the prediction for each sample that a reader picks.

    Parameters
    ----------
    model : SSLART, FuzzyARTMAP or WESSLART
        A fitted classifier. It is not changed.
    X : array-like of shape (n_samples, n_features)
        The samples that the report is about. Their values get into the file.
    y : array-like of shape (n_samples,), or None
        Their true classes; -1, None or NaN where not known. Quality is measured on those that have one.
    path : str or path
        The file to write. An older one is replaced only when the new one is complete.
    title : str, default=None
        Headline. None: one with the name of the model.
    held_out : bool, default=None
        Whether the model has not learnt these samples. The report states it; None: it states that this is not known.
    rules : RuleSet, default=None
        What to show of ``model.rules()``, such as ``model.rules(levels=3, simplify=(X, y))``. None: all.
    sample_names : sequence of shape (n_samples,), default=None
        Names of the samples, shown beside their row number.
    max_rules : int, default=200
        How many rules to show: those with most samples.
    max_samples : int, default=200
        How many samples to explain: wrong predictions first, then those where the model abstains, then novel ones, then
        an even spread of the others.

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
    target = _check_path(path)
    for module in ("jinja2", "matplotlib.pyplot"):
        optional(module, "report")
    n_rules = check_whole("report", "max_rules", max_rules) or 1
    n_samples = check_whole("report", "max_samples", max_samples) or 1
    observed = observe(model, X, y)
    shown = rules_of(model) if rules is None else _check_rules(rules, observed)
    names = None if sample_names is None else _check_names(sample_names, len(observed))
    states = [states_of(observed, row) for row in range(len(observed))]
    summary = summarise(observed)
    samples = sample_lines(observed, X, chosen_rows(states, n_samples), names, rule_numbers(shown))
    page = (
        _environment()
        .get_template("report.html.jinja")
        .render(
            title=title or f"Report on {observed.view.name}",
            made=date.today().isoformat(),
            version=version("sslart"),
            model=_described(observed),
            held_out=held_out,
            classes=observed.classes,
            colours={label: style(index).colour for index, label in enumerate(observed.classes)},
            summary=summary,
            numbers=dataclasses.asdict(summary),
            rules=rule_lines(shown, n_rules),
            n_rules=len(shown),
            pictures=pictures_of(observed, shown, X, y),
            samples=samples,
            state_counts={state: sum(state in one.states for one in samples) for state in STATES},
        )
    )
    write_atomically(target, [page.encode()])
    return target


def _check_path(path: str | os.PathLike[str]) -> Path:
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder: give the name of a file, such as {target / 'report.html'}.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {target.parent}: make it first, or give another path.")
    return target


def _check_rules(rules: Any, observed: Observed) -> RuleSet:
    if not isinstance(rules, RuleSet):
        raise TypeError(f"rules must be a RuleSet, as model.rules() gives, got a {type(rules).__name__}.")
    if not rules or list(rules.feature_names) != observed.view.feature_names:
        raise ValueError("rules has no rule of this model: give model.rules(), filtered less.")
    return rules


def _check_names(sample_names: Sequence[Any], n_samples: int) -> list[str]:
    names = [str(name) for name in sample_names]
    if len(names) != n_samples:
        raise ValueError(f"X has {n_samples} samples and sample_names {len(names)}: give one name for each sample.")
    return names


def _described(observed: Observed) -> dict[str, Any]:
    """Return what the model is, in a few numbers."""
    view = observed.view
    n_members = len(view.members)
    return {
        "kind": view.name,
        "uses_evidence": view.uses_evidence,
        "abstain_below": view.abstain_below,
        "n_members": n_members,
        "n_learnt": int(sum(member.support.sum() for member in view.members)) // n_members,
        "n_labels": int(sum(member.counts.sum() for member in view.members)) // n_members,
        "parameters": {name: value for name, value in observed.model.get_params().items() if value is not None},
    }


@cache
def _environment() -> Any:
    jinja2 = optional("jinja2", "report")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("sslart.reporting", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": number_text,
        "percent": _percent,
        "interval": _interval,
        "counted": plural,
    }
    return environment


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}\N{NO-BREAK SPACE}%"


def _interval(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return "no samples"
    return f"{100 * estimate.low:.1f} to {_percent(estimate.high)}"
