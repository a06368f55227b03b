"""`sslart rules` writes the rules of a model in five ways."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pandas as pd
import pytest

import sslart
from sslart.cli import main
from tables import mixed_model

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
