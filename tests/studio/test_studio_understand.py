"""The view Understand: features, rules that are corrected, and one sample at a time."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from acting import card, lines, shown, told
from opened import Opened, wait_for

ROW = 60


def read(opened: Opened, path: str, **parameters: Any) -> dict[str, Any]:
    answer = opened.http.get(f"/v1/models/flowers/{path}", params=parameters)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def ask(opened: Opened, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = opened.http.post(f"/v1/models/flowers/{path}", json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def labels_in_force(opened: Opened) -> dict[int, str]:
    found = ask(opened, "search", {"limit": 1000})["rows"]
    return {one["row"]: one["label"] for one in found if one["label"] is not None}


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def shares_in(what_if: Any) -> list[str]:
    texts = what_if.get_by_role("list").get_by_role("listitem").all_inner_texts()
    return [text.split("\n")[-1].strip() for text in texts]


def predicted(opened: Opened, cells: dict[str, Any], name: str = "flowers") -> list[str]:
    answer = opened.http.post(f"/v1/models/{name}/predict", json={"rows": [cells]}).json()
    return [percent(share) for share in answer["predictions"][0]["probabilities"].values()]


def follows(opened: Opened, what_if: Any, cells: dict[str, Any], name: str = "flowers") -> None:
    """Wait until the page shows what the service predicts for cells."""
    expected = predicted(opened, cells, name)
    wait_for(lambda: shares_in(what_if) == expected)


def test_importance_and_dependence(opened: Opened) -> None:
    page = opened.page("flowers/understand")
    shown(page)
    importance = read(opened, "importance")["features"]
    table = card(page, "Importance of features").get_by_role("table")
    found = [(line[0], line[1], line[2]) for line in lines(table)]
    assert found == [(one["feature"], f"{100 * one['share']:.0f} %", one["raises"]) for one in importance]

    second = importance[1]["feature"]
    table.get_by_role("button", name=second).click()
    part = card(page, "Feature dependence")
    sentence = part.get_by_text(f"{second} adds least to the score of virginica").last
    sentence.wait_for()
    curve = read(opened, "dependence", feature=second)["curve"]
    highest = max(curve, key=lambda one: one["y"][2])
    assert f"most at {highest['x']:.4g} ({highest['y'][2]:.4g})" in sentence.inner_text().replace(",", "")
    part.get_by_role("combobox", name="Class").select_option("setosa")
    part.get_by_text(f"{second} adds least to the score of setosa").last.wait_for()
    assert part.get_by_role("img").count() == 1
    page.close()


@pytest.mark.slow
def test_rules_are_sorted_filtered_and_named(opened: Opened) -> None:
    page = opened.page("flowers/understand/rules")
    shown(page)
    rules = read(opened, "rules", max_rules=12)["rules"]
    table = card(page, "Rules").get_by_role("table")
    assert [line[0] for line in lines(table)] == [str(one["number"]) for one in rules]
    table.get_by_role("button", name="Covers").click()
    covered = sorted((one["n_covered"] for one in rules), reverse=True)
    assert [int(line[3].split("\n")[0]) for line in lines(table)] == covered
    label = next(one["label"] for one in rules if one["conditions"])
    page.get_by_role("combobox", name="Class").select_option(label)
    of_class = [one for one in rules if one["label"] == label]
    page.get_by_text(f"{len(of_class)} of {len(rules)} rules").wait_for()
    page.get_by_label("Text in the rule").fill("no such words")
    page.get_by_text("No rule matches the filters.").wait_for()
    page.get_by_label("Text in the rule").fill(of_class[0]["conditions"][0]["text"])

    number = of_class[0]["number"]
    page.get_by_role("button", name=f"Rename rule {number}").click()
    page.get_by_label("Name of the rule; empty for none").fill("Wide petals")
    page.get_by_role("button", name="Save").click()
    table.get_by_text("Wide petals").wait_for()
    page.reload()
    table.get_by_text("Wide petals").wait_for()
    assert list(read(opened, "properties")["properties"]["rule_names"].values()) == ["Wide petals"]
    page.get_by_role("combobox", name="At most").select_option("6")
    few = read(opened, "rules", max_rules=6)["rules"]
    page.get_by_text(f"{len(few)} of {len(few)} rules").wait_for()
    page.close()


def rule_to_correct(opened: Opened) -> tuple[Any, Any, Any, Any]:
    """Open the dialog that corrects the rule of a class; return it with the page, the rule and the labels."""
    page = opened.page("flowers/understand/rules")
    shown(page)
    rule = next(one for one in read(opened, "rules", max_rules=12)["rules"] if one["label"] == "versicolor")
    before = labels_in_force(opened)
    page.get_by_role("button", name=f"Correct rule {rule['number']}").click()
    return page, rule, before, page.get_by_role("dialog", name=f"Correct rule {rule['number']}")


def test_a_rule_is_corrected_after_its_effect_was_shown(opened: Opened) -> None:
    page, rule, before, dialog = rule_to_correct(opened)
    assert dialog.get_by_role("radio", checked=True).count() == 0
    dialog.get_by_role("radio", name="It is virginica").check()
    uses = dialog.get_by_role("checkbox", name="Use row")
    uses.first.wait_for()
    rows = [int(re.findall(r"\d+", one.get_attribute("aria-label"))[0]) for one in uses.all()]
    named = {one["feature"] for one in rule["conditions"]}
    heads = dialog.get_by_role("region").get_by_role("columnheader").all_inner_texts()
    assert set(heads[4 : 4 + len(named)]) == named
    left_out = rows.pop()
    uses.last.uncheck()
    dialog.get_by_role("button", name="Show the effect").click()
    dialog.get_by_role("heading", name="Effect if you confirm").wait_for()
    body = {"labels": [{"row": row, "label": "virginica"} for row in rows], "together": True}
    trial = ask(opened, "trial", body)
    assert f"{trial['changed']['n']} of 150 prediction" in dialog.inner_text()
    assert trial["changed"]["n"] > 0
    assert labels_in_force(opened) == before

    predicted = read(opened, "rules", max_rules=12)
    dialog.get_by_role("button", name=f"Learn {len(rows)} label").click()
    told(page, f"{len(rows)} labels were learnt.")
    dialog.wait_for(state="detached")
    after = labels_in_force(opened)
    assert {after[row] for row in rows} == {"virginica"}
    assert after.get(left_out) == before.get(left_out)
    wait_for(lambda: read(opened, "rules", max_rules=12)["rules"] != predicted["rules"])
    page.get_by_role("button", name="Undo", exact=True).first.click()
    wait_for(lambda: labels_in_force(opened) == before)
    page.close()


@pytest.mark.slow
def test_a_veto_withdraws_the_labels_of_a_rule(opened: Opened) -> None:
    page, _, before, dialog = rule_to_correct(opened)
    dialog.get_by_role(
        "radio", name="Veto: the labels versicolor here are wrong, and the correct class is unknown"
    ).check()
    dialog.get_by_text("lose").last.wait_for()
    dialog.get_by_role("button", name="Show the effect").click()
    dialog.get_by_role("button", name=re.compile("Withdraw ")).click()
    page.get_by_text(re.compile("labels? (was|were) withdrawn")).wait_for()
    dialog.wait_for(state="detached")
    wait_for(lambda: labels_in_force(opened) != before)
    lost = set(before) - set(labels_in_force(opened))
    assert lost
    assert {before[row] for row in lost} == {"versicolor"}
    page.keyboard.press("u")
    wait_for(lambda: labels_in_force(opened) == before)
    wait_for(lambda: all(job["state"] == "done" for job in opened.http.get("/v1/jobs").json()["jobs"]))
    page.close()


@pytest.mark.slow
def test_why_a_sample_is_predicted_so_and_which_cases_are_like_it(opened: Opened) -> None:
    page = opened.page("flowers/understand/sample")
    page.get_by_label("Row number or ID").fill(str(ROW))
    page.get_by_role("button", name="Open").click()
    page.get_by_role("heading", name=f"Row {ROW}").wait_for()
    shown(page)
    cells = read(opened, f"rows/{ROW}")["cells"]
    added = ask(opened, "contributions", {"rows": [cells]})
    for at, name in enumerate(added["classes"]):
        page.get_by_role("combobox", name="towards").select_option(name)
        table = page.get_by_role("table", name=f"Contribution of each feature to the score of {name}")
        table.wait_for()
        told_values = [float(line[-1].split("\n")[-1].replace("−", "-")) for line in lines(table)]
        *parts, score = told_values
        assert score == pytest.approx(added["scores"][0][at], abs=6e-4)
        assert sum(parts) == pytest.approx(score, abs=1e-3 * len(parts))
    page.get_by_text("Full explanation as text").click()
    words = ask(opened, "explain", {"rows": [cells]})["explanations"][0]["text"]
    page.get_by_text(words.split("\n")[0]).wait_for()

    similar = ask(opened, "similar", {"row": cells, "n": 6, "leave_out": ROW})
    part = card(page, "Similar cases")
    expected = [[str(one["row"]), one["label"], one["text"]] for one in similar["cases"]]
    assert lines(part.get_by_role("table")) == expected
    part.get_by_text(f"Box {similar['boxes'][0]['box']}: ").wait_for()
    part.get_by_role("link", name=str(similar["cases"][0]["row"]), exact=True).click()
    page.get_by_role("heading", name=f"Row {similar['cases'][0]['row']}").wait_for()
    page.get_by_role("button", name="Next").click()
    page.get_by_role("heading", name=f"Row {similar['cases'][0]['row'] + 1}").wait_for()
    page.close()


@pytest.mark.slow
def test_a_row_is_not_mistaken_for_one_with_its_number_as_id(opened: Opened) -> None:
    cells = read(opened, f"rows/{ROW}")["cells"]
    sent = ask(opened, "decide", {"rows": [cells], "ids": ["5"]})
    named = sent["predictions"][0]["row"]
    page = opened.page("flowers/understand/sample/5")
    page.get_by_role("heading", name="Row 5", exact=True).wait_for()
    shown(page)
    page.get_by_role("button", name="Open").click()
    page.get_by_role("heading", name=f"Row {named}").wait_for()
    shown(page)
    page.close()


def test_what_if_and_what_would_change_the_prediction(opened: Opened) -> None:
    page = opened.page(f"flowers/understand/sample/{ROW}")
    shown(page)
    cells = read(opened, f"rows/{ROW}")["cells"]
    what_if = card(page, "What if?")
    follows(opened, what_if, cells)
    slider = what_if.get_by_role("slider", name="petal_length")
    slider.focus()
    page.keyboard.press("Home")
    changed = {**cells, "petal_length": slider.input_value()}
    assert float(changed["petal_length"]) < float(cells["petal_length"])
    follows(opened, what_if, changed)
    assert shares_in(what_if) != predicted(opened, cells)
    what_if.get_by_role("button", name="petal_width: set to missing").click()
    follows(opened, what_if, {**changed, "petal_width": None})
    what_if.get_by_role("button", name="Reset").click()
    follows(opened, what_if, cells)

    part = card(page, "What would change the prediction?")
    part.get_by_role("checkbox", name="petal_length").check()
    now = opened.http.post("/v1/models/flowers/predict", json={"rows": [cells]}).json()["predictions"][0]["class"]
    target = part.get_by_role("combobox", name="Target class")
    assert now not in target.inner_text().split("\n")
    target.select_option("virginica")
    part.get_by_role("button", name="Find changes").click()
    part.get_by_text("virginica").last.wait_for()
    body = {"row": cells, "target": "virginica", "fixed": ["petal_length"], "n": 4}
    found = ask(opened, "counterfactual", body)["counterfactuals"]
    part.get_by_role("button", name="Try it").first.wait_for()
    changes = {one["feature"]: one["after"] for one in found[0]["changes"]}
    assert changes
    assert "petal_length" not in changes
    part.get_by_role("button", name="Try it").first.click()
    follows(opened, what_if, {**cells, **changes})
    what_if.get_by_role("status").get_by_text("virginica").wait_for()
    page.close()


@pytest.mark.slow
def test_categories_dates_and_missing_values_are_changed(opened: Opened) -> None:
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"kind": random.choice(["a", "b", "c"], 120), "size": random.normal(size=120)})
    frame["day"] = pd.date_range("2024-01-01", periods=120).strftime("%Y-%m-%d")
    frame["state"] = np.where((frame["kind"] == "a") | (frame.index > 90), "on", "off")
    content = frame.to_csv(index=False).encode()
    opened.http.put("/v1/models/mixed", params={"label": "state", "wait": 60}, content=content)
    page = opened.page("mixed/understand/sample/4")
    shown(page)
    cells = dict(opened.http.get("/v1/models/mixed/rows/4").json()["cells"])
    what_if = card(page, "What if?")
    follows(opened, what_if, cells, "mixed")
    for kind in ("a", "b"):
        what_if.get_by_role("combobox", name="kind").select_option(kind)
        follows(opened, what_if, {**cells, "kind": kind}, "mixed")
    what_if.get_by_role("slider", name="day").focus()
    page.keyboard.press("End")
    follows(opened, what_if, {**cells, "kind": "b", "day": "2024-04-29"}, "mixed")
    what_if.get_by_role("combobox", name="kind").select_option("missing")
    what_if.get_by_role("button", name="day: set to missing").click()
    follows(opened, what_if, {**cells, "kind": None, "day": None}, "mixed")
    page.close()
