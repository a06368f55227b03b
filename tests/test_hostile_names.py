"""Whatever a table holds, texts for people show it and nothing in it acts; code and data keep it as it is."""

from __future__ import annotations

import html.parser
import io
import json
import sqlite3
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import sslart
from hostile import CATEGORICAL, CLASSES, FEATURES, VISIBLE_BLANKS, acting, hostile_table
from sslart import SSLART, WESSLART, AutoSSLART
from sslart._utils.text import (
    as_text_cell,
    category_text,
    escape,
    html_table,
    json_text,
    markdown_table,
    markdown_text,
    number_text,
    of_text_cell,
    one_line,
    printable,
    printable_lines,
)
from sslart.rules import ModelRuleSet, RuleSet

ANY_TEXT = st.text(st.characters(), max_size=20)
SIGNS = st.text("=+-@'\t\r\n;,ab1.% \x00\ufeff＝－", max_size=12)


@given(ANY_TEXT)
def test_shown_text_has_no_character_that_acts(text: str) -> None:
    shown = printable(text)
    assert not acting(shown, "")
    assert printable(shown) == shown
    assert acting(text, "") or shown == text
    assert not acting(printable_lines(text))
    assert printable_lines(text).count("\n") == text.count("\n")
    assert not any(acting(say(text), "") for say in (number_text, category_text, one_line, escape, markdown_text))


@pytest.mark.parametrize("text", ["Größe in µm²", "高さ", "naïve – “x”", "a👍b", *VISIBLE_BLANKS])
def test_letters_of_any_language_stay(text: str) -> None:
    assert printable(text) == text


@given(st.dictionaries(ANY_TEXT, st.lists(ANY_TEXT | st.integers(), max_size=3), max_size=3))
def test_json_is_visible_and_reads_back_the_same(values: Any) -> None:
    for indent in (None, 2):
        text = json_text(values, indent)
        assert not acting(text)
        assert json.loads(text) == json.loads(json.dumps(values))


MARKUP = st.text("\\`*_[]()<>!#|~$&;:=-+.'\"/ab1 \n\té", max_size=14)


class Page(html.parser.HTMLParser):
    """The elements that a browser sees, and the texts of cells."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.cells: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        self.cells += [""] if tag in ("td", "th") else []

    def handle_comment(self, data: str) -> None:
        self.tags.add(data)

    def handle_data(self, data: str) -> None:
        self.cells[-1:] = [cell + data for cell in self.cells[-1:]]


@given(st.lists(MARKUP | ANY_TEXT, min_size=2, max_size=2))
def test_cells_of_markdown_and_html_are_shown_as_they_are(cells: list[str]) -> None:
    markdown = MarkdownIt("gfm-like", {"html": True, "linkify": False})
    for table in (markdown.render(markdown_table(["a", "b"], [cells], plain=True)), html_table(["a", "b"], [cells])):
        page = Page(table)
        assert page.tags == {"table", "thead", "tbody", "tr", "th", "td"}
        assert [cell.strip() for cell in page.cells] == ["a", "b", *(printable(cell).strip() for cell in cells)]


@given(SIGNS | ANY_TEXT)
def test_marked_cells_read_back_the_same_and_no_start_is_a_formula(text: str) -> None:
    cell = as_text_cell(text)
    assert of_text_cell(cell) == text
    for part in cell.replace("\t", ";").replace("\r", ";").replace("\n", ";").split(";"):
        start = part.lstrip(" \x00\ufeff")
        assert not start.startswith(("=", "@", "＝", "－"))
        assert not start.startswith(("+", "-")) or _is_number_or_signs(start)


def _is_number_or_signs(text: str) -> bool:
    plain = text.strip().removesuffix("%").strip().replace(",", "").replace(".", "")
    return not text.strip("+-") or plain.lstrip("+-").replace("e", "").replace("E", "").replace("+", "").isdigit()


@pytest.mark.parametrize(
    "text", ["-1", "+5", "-0.5", "-1,5", "-1e-3", "+", "-", "--", "-3 %", "x=1", "a@b.c", "", "'quoted'"]
)
def test_numbers_signs_and_plain_text_are_not_marked(text: str) -> None:
    assert as_text_cell(text) == text


@pytest.fixture(scope="module")
def table() -> tuple[pd.DataFrame, np.ndarray]:
    return hostile_table()


MORE = tuple(pytest.param(one, marks=pytest.mark.stress) for one in ("evidence", "ensemble"))


@pytest.fixture(scope="module", params=["boxes", *MORE])
def model(request: pytest.FixtureRequest, table: tuple[pd.DataFrame, np.ndarray]) -> Any:
    made: dict[str, Callable[[], Any]] = {
        "evidence": lambda: AutoSSLART(random_state=0),
        "boxes": lambda: SSLART(0.7, random_state=0, decision_costs={(CLASSES[1], CLASSES[2]): 3.0}),
        "ensemble": lambda: WESSLART(2, vigilance=0.7, random_state=0),
    }
    return made[request.param]().fit(*table)


def texts_of(model: Any, X: pd.DataFrame) -> dict[str, str]:
    """Return every text for people that a model makes."""
    found = {"summary": str(model.summary()), "model": repr(model)}
    unlike = X.iloc[:1].assign(**{CATEGORICAL: "\x1bnew\n", FEATURES[0]: 99.0})
    for name, sample in (
        ("known", X.iloc[[1]]),
        ("novel", unlike),
        ("gap", X.iloc[[2]].assign(**{FEATURES[2]: np.nan})),
    ):
        (why,) = model.explain(sample)
        found |= {f"{name} explanation": str(why), f"{name} repr": repr(why), f"{name} html": why._repr_html_()}
    for name, options in (("any", {}), ("all fixed", {"fixed": list(X)}), ("target", {"target": CLASSES[1], "n": 9})):
        what = model.counterfactual(X.iloc[[0]], **options)
        found |= {f"{name} what-if": str(what), f"{name} what-if repr": repr(what), f"{name} page": what._repr_html_()}
    for kind in ("model", "boxes"):
        rules = model.rules(**({"X": X} if kind == "model" else {}), kind=kind)
        found |= {f"{kind} repr": repr(rules), f"{kind} text": rules.to_text(), f"{kind} json": rules.to_json(2)}
        found |= {f"{kind} md": rules.to_markdown(), f"{kind} rule": repr(rules[0]), f"{kind} html": rules.to_html()}
    if hasattr(model, "feature_importances") and getattr(model, "mapping", "") == "evidence":
        importances = model.feature_importances()
        found |= {"importances": str(importances), "importances html": importances._repr_html_()}
    return found


def test_no_text_for_people_has_a_character_that_acts(model: Any, table: tuple[pd.DataFrame, np.ndarray]) -> None:
    texts = texts_of(model, table[0])
    assert {name: acting(text) for name, text in texts.items() if acting(text)} == {}
    assert any("\\x1b[31mred" in text for text in texts.values())  # shown, not left out
    for name in (one for one in texts if one.endswith(("html", "page"))):
        assert Page(texts[name]).tags <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "div", "p"}, name
    for name in (one for one in texts if one.endswith("md")):
        lines = texts[name].strip().split("\n")
        assert len({line.count("|") - line.count("\\|") for line in lines if line.startswith("|")}) == 1
        assert "<script" not in texts[name].replace("\\<", "")


@pytest.fixture(scope="module")
def evidence(table: tuple[pd.DataFrame, np.ndarray]) -> AutoSSLART:
    return AutoSSLART(random_state=0).fit(*table)


@pytest.fixture(scope="module")
def rules(evidence: AutoSSLART, table: tuple[pd.DataFrame, np.ndarray]) -> ModelRuleSet:
    return evidence.rules(table[0], max_rules=30)


def test_rules_as_python_and_as_sql_do_what_they_should_and_nothing_else(rules: ModelRuleSet, table: Any) -> None:
    X = table[0]
    expected = rules.predict(X).tolist()
    assert set(expected) == set(CLASSES)
    names: dict[str, Any] = {}
    source = rules.to_python()
    assert not acting(source)
    exec(source, names)
    assert set(names) == {"__builtins__", "predict"}
    assert [names["predict"](row) for row in X.to_dict("records")] == expected
    with sqlite3.connect(":memory:") as base, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        X.to_sql("t", base, index=False)
        assert [one for (one,) in base.execute(f"SELECT {rules.to_sql()} FROM t")] == expected
        assert base.execute("SELECT count(*) FROM t").fetchone() == (len(X),)


@pytest.mark.parametrize("kind", ["model", "boxes"])
def test_csv_of_rules_marks_formulas_unless_they_are_to_be_kept(
    kind: str, rules: ModelRuleSet, evidence: AutoSSLART
) -> None:
    found: ModelRuleSet | RuleSet = rules if kind == "model" else evidence.rules(kind="boxes")
    marked, kept = (
        pd.read_csv(io.StringIO(text), dtype=str).fillna("")
        for text in (found.to_csv(), found.to_csv(keep_formulas=True))
    )
    assert any(name.startswith("=") for name in kept)
    assert [of_text_cell(name) for name in marked] == list(kept)
    assert marked.map(of_text_cell).to_numpy().tolist() == kept.to_numpy().tolist()
    cells = [*marked, *marked.to_numpy().ravel()]
    assert not [cell for cell in cells if as_text_cell(of_text_cell(cell)) != cell]
    assert not [cell for cell in cells if cell.startswith(("=", "@", "+ve", "\t", "\r"))]


def test_a_backslash_in_sql_makes_a_warning_and_nul_an_error() -> None:
    X = pd.DataFrame({"path": ["a\\", "b"] * 10, "size": np.arange(20.0)})
    rules = SSLART(random_state=0).fit(X, np.where(X["path"] == "b", "plain", "x\0y")).rules(X)
    with pytest.warns(UserWarning, match="holds a backslash"):
        rules.to_sql(result="rule")
    with pytest.raises(ValueError, match="SQL cannot hold"):
        rules.to_sql()


@pytest.mark.stress
def test_the_report_and_its_pictures_show_every_name(tmp_path: Path, table: Any) -> None:
    model = AutoSSLART(random_state=0).fit(*table)
    page = sslart.report(
        model, *table, tmp_path / "page.html", sample_names=["\x1b[1m<b>"] * len(table[0]), max_samples=3
    )
    text = page.read_text(encoding="utf-8")
    assert not acting(text)
    assert "<script>alert" not in text
    assert "<img src=x" not in text
    assert "\\x1b[31mred" in text


def test_errors_quote_names_with_every_character_visible(model: Any, table: Any, tmp_path: Path) -> None:
    X, y = table
    (file := tmp_path / "\x1b[31m\n").write_bytes(b"no model")
    evil = "\x1b[31m\n\u202e"
    calls: list[Callable[[], Any]] = [
        lambda: model.predict(X.rename(columns={FEATURES[0]: evil})),
        lambda: model.predict(X.drop(columns=[FEATURES[0]])),
        lambda: model.predict(X.assign(**{FEATURES[0]: evil})),
        lambda: model.partial_fit(X, [1] * len(X)),
        lambda: model.counterfactual(X.iloc[[0]], target=evil),
        lambda: model.counterfactual(X.iloc[[0]], fixed=[evil]),
        lambda: model.counterfactual({FEATURES[0]: 1.0}),
        lambda: model.counterfactual(X.iloc[[0]], ranges={CATEGORICAL: [evil]}),
        lambda: model.counterfactual(X.iloc[[0]], ranges={FEATURES[0]: (2, 1)}),
        lambda: model.rules(kind="boxes").filter(evil),
        lambda: model.rules(kind="boxes").filter(feature=evil),
        lambda: type(model)(decision_costs={(evil, CLASSES[0]): 1.0}).fit(X, y),
        lambda: type(model)(decision_costs={(evil, CLASSES[0]): evil}).fit(X, y),
        lambda: sslart.load(f"/no/such/{evil}"),
        lambda: sslart.load(file),
    ]
    for number, call in enumerate(calls):
        with pytest.raises((ValueError, TypeError, OSError)) as caught:
            call()
        assert not acting(str(caught.value)), number
