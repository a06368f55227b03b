"""`sslart rules` writes the rules of a model in five ways."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pandas as pd
import pytest

import sslart
from sslart.cli import main
from tables import iris_model, mixed_model

Captured = pytest.CaptureFixture[str]


def test_every_format_has_every_rule(tmp_path: Path, capsys: Captured) -> None:
    model = mixed_model(tmp_path)
    n_rules = len(sslart.load(model).rules())
    written = {}
    for form in ("text", "csv", "json", "md", "html"):
        assert main(["rules", str(model), "--format", form]) == 0
        written[form] = capsys.readouterr().out
    assert written["text"].count("Then ") == n_rules
    assert len(pd.read_csv(io.StringIO(written["csv"]))) == n_rules
    assert len(json.loads(written["json"])["rules"]) == n_rules
    assert len(written["md"].splitlines()) == n_rules + 2
    assert written["html"].count("<tr>") == n_rules + 1


def test_rules_go_to_a_file_and_may_be_fewer(tmp_path: Path, capsys: Captured) -> None:
    model, out = mixed_model(tmp_path), tmp_path / "rules.json"
    assert main(["rules", str(model), "--json", "--min-support", "3", "--out", str(out)]) == 0
    assert capsys.readouterr().out == ""
    assert len(json.loads(out.read_text())["rules"]) == len(sslart.load(model).rules(min_support=3))
    assert main(["rules", str(model), "--min-support", "1000"]) == 1
    assert "--min-support" in capsys.readouterr().err


def test_filters_keep_the_numbers_and_names_tell_the_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = str(iris_model(tmp_path))
    assert main(["rules", model, "--json"]) == 0
    every = {rule["number"]: rule for rule in json.loads(capsys.readouterr().out)["rules"]}
    assert list(every) == list(range(1, len(every) + 1))
    assert main(["rules", model, "--json", "--min-support", "6"]) == 0
    some = json.loads(capsys.readouterr().out)["rules"]
    assert 0 < len(some) < len(every)
    assert all(rule == every[rule["number"]] for rule in some)
    assert [rule["number"] for rule in some] != list(range(1, len(some) + 1))
    assert main(["rules", model, "--min-support", "6"]) == 0
    assert capsys.readouterr().out.startswith(f"Rule {some[0]['number']}: ")
    for name, start in {
        "r.md": "| No. |",
        "r.html": "<!doctype",
        "r.json": "{",
        "r.csv": "No.,",
        "r.txt": "Rule 1",
    }.items():
        assert main(["rules", model, "--out", str(tmp_path / name)]) == 0
        assert (tmp_path / name).read_text().startswith(start)
