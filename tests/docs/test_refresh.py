"""`make refresh-pages` writes what examples print and draw into their pages, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from pages import agrees, examples_of, printed_by
from refresh_pages import DOCS, PRINTED_BY_SCRIPTS, refresh

PAGE = """# A page

```python
from pathlib import Path

print(6 * 7)
Path("dot.png").write_bytes(b"new")
```

```text
41
```

![A dot](images/page_dot.png)

```python
print(6 * 7)
```

```text
41
```

```python
print("so", "many", "words")
```

```text
so few ...
```

```python
print(*range(20), sep="\\n")
```

```text
zero
one
...
7 then
8 later
...
last
```

41 in prose stays.
"""


def test_what_is_shown_becomes_what_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where the last runs of the examples draw
    page, picture = tmp_path / "page.md", tmp_path / "images" / "page_dot.png"
    page.write_text(PAGE)
    picture.parent.mkdir()
    picture.write_bytes(b"old")
    (by_hand,) = refresh(page)
    assert by_hand.endswith("prints:\nso many words\n")
    assert page.read_text() == PAGE.replace("```text\n41\n", "```text\n42\n").replace(
        "zero\none\n...\n7 then\n8 later\n...\nlast\n", "0\n1\n...\n7\n8\n...\n19\n"
    )
    assert picture.read_bytes() == b"new"
    assert capsys.readouterr().out.count("replaced") == 3
    namespace: dict[str, object] = {}
    shown = [agrees(one.shown, printed_by(one, namespace, "page")) for one in examples_of(page.read_text())]
    assert shown == [True, True, False, True]


def test_an_example_that_fails_changes_nothing_after_it(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\n1 / 0\n```\n\n```python\nprint(1)\n```\n\n```text\n2\n```\n")
    before = page.read_text()
    (by_hand,) = refresh(page)
    assert "ZeroDivisionError" in by_hand
    assert page.read_text() == before


def test_pages_of_scripts_exist() -> None:
    for page, scripts in PRINTED_BY_SCRIPTS.items():
        assert page.is_file()
        assert all((DOCS.parent / "examples" / script).is_file() for script in scripts)
