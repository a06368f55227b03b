"""Rules of the model as a reader, a database and Python apply them: from what is printed, not from the rule set."""

from __future__ import annotations

import re
import sqlite3
from typing import Any

import pandas as pd

from sslart.rules import ModelRuleSet

CLAUSE = re.compile(r"^Rule (\d+): (?:if (.*), then|otherwise|in every case) (.*)$", re.MULTILINE)


def is_missing(value: Any) -> bool:
    return value is None or value != value


def meets(text: str, row: dict[str, Any]) -> bool:
    """Tell whether a row meets a printed condition, such as "2.5 < width ≤ 4 or missing"."""
    text, or_missing = re.subn(r" or missing$", "", text)
    for name in sorted(row, key=len, reverse=True):
        value = row[name]
        if text == f"{name} is missing":
            return is_missing(value)
        if text == f"{name} is known":
            return not is_missing(value)
        if found := re.fullmatch(rf"{re.escape(name)} is (not )?(.*)", text):
            if is_missing(value):
                return bool(or_missing)
            return (str(value) in found[2].split(" or ")) != bool(found[1])
        limits = rf"(?:(\S+) < )?{re.escape(name)}(?: ≤ (\S+))?|{re.escape(name)} > (\S+)"
        if found := re.fullmatch(limits, text):
            if is_missing(value):
                return bool(or_missing)
            low = found[1] or found[3]
            return (low is None or value > float(low)) and (found[2] is None or value <= float(found[2]))
    raise AssertionError(f"no feature of the table is in {text!r}")


def from_text(rules: ModelRuleSet, frame: pd.DataFrame) -> list[list[int]]:
    """Return the numbers of all printed rules with conditions that each row meets."""
    clauses = [(int(number), conditions) for number, conditions, _ in CLAUSE.findall(rules.to_text())]
    assert [number for number, _ in clauses] == list(range(1, len(rules) + 1))
    return [
        [number for number, text in clauses if text and all(meets(one, row) for one in text.split(", and "))]
        for row in frame.to_dict("records")
    ]


def from_sql(rules: ModelRuleSet, frame: pd.DataFrame, result: str) -> list[Any]:
    database = sqlite3.connect(":memory:")
    try:
        frame.to_sql("samples", database, index=False)
        return [row[0] for row in database.execute(f"SELECT {rules.to_sql(result)} FROM samples")]
    finally:
        database.close()


def from_python(rules: ModelRuleSet, frame: pd.DataFrame, result: str) -> list[Any]:
    scope: dict[str, Any] = {}
    exec(rules.to_python(result=result), scope)
    return [scope["predict"](row) for row in frame.to_dict("records")]


def from_json(rules: ModelRuleSet, frame: pd.DataFrame) -> list[int]:
    """Return the rule of each row from the plain values of the rules."""
    *others, default = rules.to_dict()["rules"]

    def holds(condition: dict[str, Any], row: dict[str, Any]) -> bool:
        value = row[condition["feature"]]
        if is_missing(value) or condition["only_missing"]:
            return bool(condition["missing"]) and is_missing(value)
        if "categories" in condition:
            return (value in condition["categories"]) != condition["negated"]
        above, at_most = condition["above"], condition["at_most"]
        return (above is None or value > above) and (at_most is None or value <= at_most)

    numbers = []
    for row in frame.to_dict("records"):
        met = [rule["number"] for rule in others if all(holds(one, row) for one in rule["conditions"])]
        assert len(met) <= 1
        numbers.append(met[0] if met else default["number"])
    return numbers


def assert_by_hand(rules: ModelRuleSet, frame: pd.DataFrame) -> None:
    """Check that the rules are exclusive, and that all forms cover exactly the rows that `apply` names."""
    numbers = rules.apply(frame).tolist()
    met = from_text(rules, frame)
    assert all(len(one) <= 1 for one in met)
    assert [one[0] if one else len(rules) for one in met] == numbers
    assert from_json(rules, frame) == numbers
    assert from_sql(rules, frame, "rule") == numbers
    assert from_python(rules, frame, "rule") == numbers
    labels = [rules[number - 1].label for number in numbers]
    assert from_python(rules, frame, "class") == labels
    assert from_sql(rules, frame, "class") == labels
