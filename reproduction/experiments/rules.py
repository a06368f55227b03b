"""Experiment 13: four rules of Heart Cleveland, as levels from 1 (very small) to 5 (very large)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from reproduction.framework.experiment import Check, Experiment, Results, Table, only_numbers
from reproduction.framework.protocol import VIGILANCES, Record, Task, split, task_and_exam
from reproduction.framework.settings import Settings
from reproduction.methods import models as _models
from reproduction.paper import printed
from sslart import SSLART
from sslart.rules._box_rules import TERMS

DATASET = "HDC"
N_LEVELS = 5
ALL_RULES = "all rules"
CHANGED = "predictions changed by extraction"
RULES = tuple(f"rule {number}" for number in (1, 2, 3, 4))


def _examples(model: SSLART) -> list[int]:
    """Return some nodes: the best supported pure one of each class, then the two best supported mixed ones."""
    counts = model.counts_
    total = counts.sum(axis=1)
    order = sorted(np.flatnonzero(total), key=lambda node: (-total[node], node))
    pure = [
        next((node for node in order if counts[node, place] == total[node]), order[0])
        for place in reversed(range(counts.shape[1]))
    ]
    mixed = [node for node in order if counts[node].max() < total[node]]
    return [int(node) for node in (*pure, *(mixed + order)[:2])]


def _work(dataset: str, seed: int, settings: Settings) -> Iterator[Record]:
    bunch = settings.load(dataset)
    rows = split(bunch.target, np.random.RandomState(seed), test=0.2, labelled=0.2)
    task, _ = task_and_exam(bunch.data, bunch.target, rows, seed)
    for rho in VIGILANCES:
        yield from _of_model(dataset, _models.single(task, rho), task, bunch.feature_names, rho)
        for one in settings.variants:
            (model, _), *_ = one.at(task, (rho,))
            for record in _of_model(dataset, model.model, task, bunch.feature_names, rho, model.classes):
                yield replace(record, condition=one.name)


def _of_model(
    dataset: str, model: SSLART, task: Task, features: Sequence[str], rho: float, classes: Any = None
) -> Iterator[Record]:
    """Return the levels and shares of the rules of a model, whose labels are places in `classes` where given."""
    before = model.predict(task.X_test)
    by_node = {rule.nodes[0]: rule for rule in model.rules(kind="boxes", levels=N_LEVELS)}
    changed = float(np.sum(model.predict(task.X_test) != before))
    yield Record(dataset, ALL_RULES, CHANGED, changed, rho)
    for number, node in enumerate(_examples(model), start=1):
        rule, name = by_node[node], f"rule {number}"
        for feature, condition in zip(features, rule.conditions, strict=True):
            if not condition.full_range:
                yield Record(dataset, name, f"{feature}, from", float(condition.low_level or 0), rho)
                yield Record(dataset, name, f"{feature}, to", float(condition.high_level or 0), rho)
        for label, share in rule.confidences.items():
            shown = label if classes is None else classes[int(label)]
            yield Record(dataset, name, f"confidence, {shown}", share, rho)


def _tables(results: Results) -> list[Table]:
    features = list(results.settings.load(results.dataset).feature_names)
    classes = [name for name in results.distinct("measure") if name.startswith("confidence, ")]
    names = [name for name in results.distinct("method") if name != ALL_RULES]
    tables = []
    for model in results.distinct("condition"):
        of_model = f" of {model}" if model else ""
        for rho in VIGILANCES:
            rows, words = [], []
            for rule in names:
                spans = {feature: _levels(results, rule, feature, rho, model) for feature in features}
                shares = {one: results.values(results.dataset, rule, one, rho, model)[0] for one in classes}
                cells = ["–".join(map(str, span)) or "any" for span in spans.values()]
                rows.append([rule, *cells, *(f"{share:.3f}" for share in shares.values())])
                words.append([rule, _in_words(spans, shares)])
            title = f"{len(names)} rules{of_model} of the first repeat, ρ={rho:g}"
            tables.append(Table(title, ["", *features, *classes], rows))
            tables.append(Table(f"The same in words{of_model}, ρ={rho:g}", ["", "rule"], words))
    if results.settings.table is not None:
        return tables
    quoted = []
    columns = [one.measure for one in printed("rule", method="rule 1") if one.measure != "confidence"]
    for rule in RULES:
        levels = [one.printed or "" for one in printed("rule", method=rule) if one.measure != "confidence"]
        printed_shares = [
            f"{one.mean:.3f}" for one in printed("rule", method=rule, measure="confidence") if one.mean is not None
        ]
        quoted.append([rule, *levels, *printed_shares])
    header = ["", *columns, "confidence, class 1", "confidence, class 2"]
    tables.append(Table("As the paper prints them", header, quoted, frozenset(range(1, len(header)))))
    return tables


def _levels(results: Results, rule: str, feature: str, rho: float, model: str = "") -> list[int]:
    """Return the lowest and highest level that a rule of the first repeat allows, one if they are equal."""
    sides = [results.values(results.dataset, rule, f"{feature}, {side}", rho, model) for side in ("from", "to")]
    return sorted({int(side[0]) for side in sides if side and side[0]})


def _in_words(levels: dict[str, list[int]], shares: dict[str, float]) -> str:
    """Return a rule as the paper writes it; a feature of any level is left out."""
    terms = TERMS[N_LEVELS]
    conditions = [
        f"{feature} is {' to '.join(f'“{terms[level - 1]}”' for level in span)}"
        for feature, span in levels.items()
        if span
    ]
    name, share = max(shares.items(), key=lambda one: one[1])
    label = name.removeprefix("confidence, ")
    return f"If {', AND '.join(conditions)}, Then {label} with confidence estimate={share:.3f}."


def _checks(results: Results) -> list[Check]:
    checks = []
    for rho in VIGILANCES:
        pure, mixed = (_share_of_repeats(results, names, rho) for names in (RULES[:2], RULES[2:]))
        changed = sum(results.values(DATASET, ALL_RULES, CHANGED, rho))
        checks += [
            Check(
                f"some rules are for one class only, of either class, ρ={rho:g}",
                pure[0] > 0.5,
                f"in {pure[0]:.0%} of the repeats",
                1006,
            ),
            Check(
                f"some rules are for both classes, with a confidence for each, ρ={rho:g}",
                mixed[1] > 0.5,
                f"in {mixed[1]:.0%} of the repeats",
                1008,
            ),
            Check(
                f"accuracy is not affected by the extraction of rules, ρ={rho:g}",
                changed == 0,
                f"{changed:.0f} predictions of test samples changed",
                1048,
            ),
        ]
    return checks


def _share_of_repeats(results: Results, rules: tuple[str, ...], rho: float) -> tuple[float, float]:
    """Return in which share of the repeats all rules are for one class, and in which the first is for both."""
    shares = np.array([results.values(DATASET, rule, "confidence, presence", rho) for rule in rules])
    is_mixed = (shares > 0) & (shares < 1)
    return float((~is_mixed).all(axis=0).mean()), float(is_mixed[0].mean())


EXPERIMENT = Experiment(
    name="rules",
    title="Four rules of Heart Cleveland",
    section="V-D Rule Extraction Analysis, Table IX (lines 992–1055)",
    question=(
        "What do rules look like? Every labelled node is a rule: the levels that its box spans, rounded as in the "
        "paper, and the share of each class among the labelled samples that resonated there. Shown are the best "
        "supported pure rule of each class and the two best supported mixed ones (pure ones where there are no mixed). "
        "Which four the paper shows, and of which model, it does not state."
    ),
    datasets=(DATASET,),
    work=_work,
    refuses=only_numbers("it rounds numbers to levels"),
    needs=("SSLART",),
    tables=_tables,
    checks=_checks,
    reason="At high vigilance 48 labels fall on almost as many nodes, so few nodes have labels of both classes.",
)
