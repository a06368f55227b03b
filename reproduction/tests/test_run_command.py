from __future__ import annotations

import json
from pathlib import Path

import pytest

from reproduction.__main__ import main
from reproduction.runner.registry import EXPERIMENTS
from reproduction.tests import needs_data


def test_without_a_name_the_experiments_are_listed_with_their_section_of_the_paper(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["run"]) == 0
    _, *lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(EXPERIMENTS)
    for line, (name, experiment) in zip(lines, EXPERIMENTS.items(), strict=True):
        assert line.startswith(f"{name} ")
        assert experiment.title in line
        assert experiment.section in line


@pytest.mark.parametrize("arguments", [["nothing"], ["rules", "--repeats", "0"], ["rules", "--jobs", "x"]])
def test_wrong_usage_ends_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["run", *arguments])
    assert stop.value.code == 2
    assert "python -m reproduction run" in capsys.readouterr().err


@needs_data
def test_one_experiment_from_start_to_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "rules", "--repeats", "1", "--out", str(tmp_path), "--json"]) == 0
    outcomes = json.loads(capsys.readouterr().out)
    assert set(outcomes) == {"rules"}
    assert outcomes["rules"]["statements"]
    for name in ("report.html", "report.md", "results.csv", "results.json"):
        assert (tmp_path / name).stat().st_size > 100
    assert main(["run", "rules", "--repeats", "1", "--out", str(tmp_path)]) == 0
    assert "statements hold" in capsys.readouterr().out
