"""The container and the unit start the service with options that it has, and name files that exist."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from sslart.cli._app import loaded

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text()
UNIT = ROOT / "deploy" / "sslart.service"


def check_options(words: list[str]) -> None:
    """Raise an error where `sslart serve` does not take these words."""
    loaded("serve").make_context("serve", words, resilient_parsing=False)


def test_the_container_starts_the_service_with_options_that_it_has() -> None:
    entry, command = (json.loads(one) for one in re.findall(r"^(?:ENTRYPOINT|CMD) (\[.*\])$", DOCKERFILE, re.MULTILINE))
    assert entry[:2] == ["sslart", "serve"]
    check_options([*entry[2:], *command])


def test_the_container_is_built_from_files_of_the_repository() -> None:
    for line in re.findall(r"^COPY (?!--from)(.*)$", DOCKERFILE, re.MULTILINE):
        for name in line.split()[:-1]:
            assert (ROOT / name).exists(), name


def test_the_unit_starts_the_service_with_options_that_it_has() -> None:
    (words,) = re.findall(r"^ExecStart=\S+ serve (.*)$", UNIT.read_text(), re.MULTILINE)
    check_options(words.split())


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed here")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / "sslart.service"
    unit.write_text(UNIT.read_text().replace("/opt/sslart/bin/sslart", "/bin/true"))
    done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not done.stderr.strip()
