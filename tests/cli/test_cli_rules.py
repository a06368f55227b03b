"""`sslart rules` writes the rules of a model, and those of its boxes, in several ways."""

from __future__ import annotations

import io
import json
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import sslart
from sslart.cli import main
from sslart.cli._output import A_BOX
from tables import iris_model, mixed_model

Captured = pytest.CaptureFixture[str]


def test_every_format_has_every_box(tmp_path: Path, capsys: Captured) -> None:
    model = mixed_model(tmp_path)
    n_rules = len(sslart.load(model).rules(kind="boxes"))
    written = {}
    for form in ("text", "csv", "json", "md", "html"):
        assert main(["rules", str(model), "--kind", "boxes", "--format", form]) == 0
        written[form] = capsys.readouterr().out
    assert written["text"].count("Then ") == n_rules
    assert len(pd.read_csv(io.StringIO(written["csv"]))) == n_rules
    assert len(json.loads(written["json"])["rules"]) == n_rules
    assert len(written["md"].splitlines()) == n_rules + 2
    assert written["html"].count("<tr>") == n_rules + 1


def test_rules_go_to_a_file_and_may_be_fewer(tmp_path: Path, capsys: Captured) -> None:
    model, out = mixed_model(tmp_path), tmp_path / "rules.json"
    assert main(["rules", str(model), "--kind", "boxes", "--json", "--min-support", "3", "--out", str(out)]) == 0
    assert capsys.readouterr().out == ""
    assert len(json.loads(out.read_text())["rules"]) == len(sslart.load(model).rules(kind="boxes", min_support=3))
    assert main(["rules", str(model), "--kind", "boxes", "--min-support", "1000"]) == 1
    assert "--min-support" in capsys.readouterr().err


def test_filters_keep_the_numbers_and_names_tell_the_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = str(iris_model(tmp_path))
    assert main(["rules", model, "--kind", "boxes", "--json"]) == 0
    every = {rule["number"]: rule for rule in json.loads(capsys.readouterr().out)["rules"]}
    assert main(["rules", model, "--kind", "boxes", "--json", "--min-support", "6"]) == 0
    some = json.loads(capsys.readouterr().out)["rules"]
    assert 0 < len(some) < len(every)
    assert all(rule == every[rule["number"]] for rule in some)
    assert all(rule["nodes"] == [rule["number"]] for rule in some)
    assert main(["rules", model, "--kind", "boxes", "--min-support", "6"]) == 0
    first, _, second, *_ = capsys.readouterr().out.splitlines()
    assert first == f"{len(some)} rules, one for each box with a label; {A_BOX}."
    assert second.startswith(f"Box {some[0]['number']}: ")
    for name, start in {
        "r.md": "| No. |",
        "r.html": "<!doctype",
        "r.json": "{",
        "r.csv": "No.,",
        "r.txt": f"{len(every)} rules, one for each box",
    }.items():
        assert main(["rules", model, "--kind", "boxes", "--out", str(tmp_path / name)]) == 0
        assert (tmp_path / name).read_text().startswith(start)


def test_rules_of_the_model_come_in_every_format_and_agree_with_it(tmp_path: Path, capsys: Captured) -> None:
    model, data = iris_model(tmp_path), tmp_path / "flowers.csv"
    iris = load_iris(as_frame=True)
    frame = iris.data.assign(species=iris.target_names[iris.target])
    frame.columns = [*sslart.load(model).feature_names_in_, "species"]
    frame.to_csv(data, index=False)
    written = {}
    for form in ("text", "csv", "json", "md", "html", "sql", "py"):
        command = ["rules", str(model), str(data), "--label", "species", "--max-rules", "4", "--format", form]
        assert main(command) == 0
        written[form] = capsys.readouterr().out
    found = json.loads(written["json"])
    n_rules = len(found["rules"])
    assert 3 <= n_rules <= 4
    assert found["agreement"] > 0.9
    assert sum(rule["n_labelled"] for rule in found["rules"]) == 149  # two are copies
    assert found["n_held_out"] == sum(rule["n_held_out"] for rule in found["rules"]) == 29
    assert written["text"].count("\nRule ") == n_rules == written["html"].count("<tr>") - 1
    assert len(pd.read_csv(io.StringIO(written["csv"]))) == n_rules == len(written["md"].splitlines()) - 4
    scope: dict[str, Any] = {}
    exec(written["py"], scope)
    rows = [scope["predict"](row) for row in frame.to_dict("records")]
    with sqlite3.connect(":memory:") as database:
        frame.to_sql("flowers", database)
        by_sql = [row[0] for row in database.execute(f"SELECT {written['sql']} FROM flowers")]
    assert rows == by_sql
    covered = Counter({rule["label"]: 0 for rule in found["rules"]})
    for rule in found["rules"]:
        covered[rule["label"]] += rule["n_covered"]
    assert Counter(rows) == covered
    assert (np.array(rows) == sslart.load(model).predict(frame.iloc[:, :4])).mean() > 0.9


@pytest.mark.parametrize(
    ("options", "cure"),
    [
        (["--kind", "boxes", "--max-rules", "3"], "--kind model"),
        (["--min-support", "3"], "--kind boxes"),
        (["--kind", "boxes", "--format", "sql"], "overlap"),
        (["--label", "species"], "give the file"),
    ],
)
def test_options_that_do_not_belong_together_are_refused(
    options: list[str], cure: str, tmp_path: Path, capsys: Captured
) -> None:
    assert main(["rules", str(iris_model(tmp_path)), *options]) == 1
    assert cure in capsys.readouterr().err
