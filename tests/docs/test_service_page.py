"""The requests on the page about the service are answered as it shows."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from service import running

from pages import FENCE, agrees, examples_of, printed_by

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "service.md"
ADDRESS = "http://127.0.0.1:8707"


def requests() -> list[tuple[str, str]]:
    """Return the requests of the page, and the answers shown, where there is one."""
    text = PAGE.read_text(encoding="utf-8")
    blocks = list(FENCE.finditer(text))
    found = []
    for place, block in enumerate(blocks):
        if block[1] == "sh" and block[2].startswith("curl"):
            after = blocks[place + 1] if place + 1 < len(blocks) else None
            is_shown = after is not None and after[1] == "none" and not text[block.end() : after.start()].strip()
            found.append((block[2], after[2] if after is not None and is_shown else ""))
    return found


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed here")
def test_requests_are_answered_as_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (table,) = [one for one in examples_of(PAGE.read_text(encoding="utf-8")) if one.language == "python"]
    printed_by(table, {}, PAGE.name)
    with running(tmp_path / "store") as service:
        for code, shown in requests():
            for command in re.split(r"\n(?=curl)", code.replace("\\\n", " ").strip()):
                words = shlex.split(command.replace(ADDRESS, service.url))
                done = subprocess.run([*words, "--silent", "--fail-with-body"], capture_output=True, text=True)
                assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
            if shown:
                answer = json.dumps(json.loads(done.stdout), indent=2, ensure_ascii=False)
                assert agrees(shown, answer), f"{code}{answer}"
