"""The report in a browser: sorting, filtering, picking by mouse and keyboard, on a phone, in print, without script."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import sslart
from sslart import WESSLART, AutoSSLART

HOSTILE = "</script><script>alert(1)</script>"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    data = load_iris(as_frame=True)
    y = data.target_names[data.target].astype(object)
    few = np.where(np.arange(150) % 3 == 0, y, None)[::2]
    model = WESSLART(5, vigilance=0.93, search_depth=1, random_state=0).fit(data.data[::2], few)
    return sslart.report(model, data.data, y, tmp_path_factory.mktemp("report") / "iris.html", max_samples=60)


@pytest.fixture(scope="module")
def evidence_file(tmp_path_factory):
    """Return a page on a model with evidence mapping, with long names, categories and many classes."""
    random = np.random.RandomState(0)
    y = np.array([f"diagnosis number {one}" for one in random.randint(0, 7, 200)])
    frame = pd.DataFrame(
        {
            "concentration_of_protein_number_one_in_blood": random.normal(size=200) + [2.0 * int(one[-1]) for one in y],
            "smoker": random.choice(["never", "former smoker of very many years", "current"], 200),
            "systolic blood pressure (mmHg)": random.normal(130, 20, 200) + 9 * (y == y[0]),
        }
    )
    model = AutoSSLART(random_state=0).fit(frame, np.where(np.arange(200) % 2, y, None))
    file = tmp_path_factory.mktemp("report") / "evidence.html"
    return sslart.report(model, frame, y, file, max_samples=12, sample_names=[f"patient {i}" for i in range(200)])


@pytest.fixture
def open_page(browser):
    """Return a function that opens a file; fail on any message of the console, and on any request to a network."""
    contexts, messages, requests = [], [], []

    def open_file(file, anchor="", **settings):
        contexts.append(browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **settings}))
        page = contexts[-1].new_page()
        page.set_default_timeout(30_000)
        page.on("console", lambda message: messages.append(message.text))
        page.on("pageerror", lambda error: messages.append(str(error)))
        page.on("dialog", lambda dialog: (messages.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(file.as_uri() + anchor)
        return page

    yield open_file
    for context in contexts:
        context.close()
    assert messages == []
    assert all(url.startswith(("file:", "data:")) for url in requests)


def rules(page, name):
    """Return a number of each rule that is shown, from top to bottom."""
    seen = f"all => all.filter(one => one.checkVisibility()).map(one => Number(one.dataset.{name}))"
    return page.eval_on_selector_all("#rule-table tbody tr", seen)


def picked(page):
    (number,) = [
        int(one) for one in page.eval_on_selector_all(".sample.picked", "all => all.map(one => one.id.slice(7))")
    ]
    assert page.locator(f"#sample-{number}").is_visible()
    assert page.locator(".sample:visible").count() == 1
    return number


def listed(page):
    return [int(text) for text in page.locator("#sample-list li:visible b").all_inner_texts()]


def test_rules_are_sorted_by_a_click_on_the_head_and_by_keyboard(open_page, file):
    page = open_page(file)
    total = page.locator("#rule-table tbody tr").count()
    assert len(rules(page, "number")) == 25
    support = page.locator("th[data-key=support]")
    support.get_by_role("button").click()
    largest = rules(page, "support")
    assert largest == sorted(largest, reverse=True)
    assert support.get_attribute("aria-sort") == "descending"
    support.get_by_role("button").press("Enter")
    assert support.get_attribute("aria-sort") == "ascending"
    assert rules(page, "support")[0] <= min(largest)
    assert page.locator("th[aria-sort]").count() == 1
    page.get_by_role("button", name="more rules").click()
    assert len(rules(page, "number")) == min(50, total)
    labels = page.locator("th[data-key=class]")
    labels.get_by_role("button").press("Space")
    assert rules(page, "class") == sorted(rules(page, "class"))


@pytest.mark.slow
def test_rules_are_filtered_by_class_feature_and_confidence(open_page, file):
    page = open_page(file)
    total = page.locator("#rule-table tbody tr").count()
    status = page.locator("#rule-status")
    page.locator("select[name=class]").select_option("setosa")
    assert set(rules(page, "class")) == {0}
    n = page.locator("#rule-table tbody tr[data-class='0']").count()
    assert status.inner_text().startswith(f"{n} of {total} rules")
    page.get_by_role("button", name="Show all").click()
    assert status.inner_text().startswith(f"{total} of {total} rules")
    page.locator("select[name=feature]").select_option("petal width (cm)")
    matching = page.eval_on_selector_all(
        "#rule-table tbody tr:not([hidden])", "all => all.every(one => one.dataset.features.split(' ').includes('3'))"
    )
    assert matching
    page.get_by_role("button", name="Show all").click()
    confidence = page.get_by_label("Confidence at least")
    confidence.focus()
    confidence.press("End")
    assert page.locator("#rule-filters output").inner_text() == "100 %"
    assert set(rules(page, "confidence")) == {1.0}
    certain = page.eval_on_selector_all(
        "#rule-table tbody tr", "all => all.filter(one => one.dataset.confidence == 1).length"
    )
    assert status.inner_text().startswith(f"{certain} of {total} rules")


def test_a_sample_is_picked_by_mouse_keyboard_search_and_address(open_page, file):
    page = open_page(file)
    numbers = listed(page)
    assert len(numbers) == 60
    assert picked(page) == numbers[0]
    page.get_by_role("button", name="Next").click()
    assert picked(page) == numbers[1]
    assert page.url.endswith(f"#sample-{numbers[1]}")
    page.get_by_role("button", name="Previous").click()
    assert page.get_by_role("button", name="Previous").is_disabled()
    page.locator("#sample-list a").nth(4).click()
    assert picked(page) == numbers[4]
    for key, index in [("ArrowDown", 5), ("ArrowUp", 4), ("End", 59), ("Home", 0)]:
        page.keyboard.press(key)
        assert picked(page) == numbers[index]
    page.get_by_label("Find").fill(str(numbers[7]))
    assert picked(page) == numbers[7]
    page.get_by_label("Find").fill("no such sample")
    assert listed(page) == []
    assert "No sample matches" in page.locator("#sample-status").inner_text()
    page = open_page(file, f"#sample-{numbers[9]}")
    assert picked(page) == numbers[9]
    assert "True class" in page.locator(".sample.picked").inner_text()


@pytest.mark.parametrize("state", ["wrong", "abstained", "novel"])
def test_samples_are_filtered_by_state(open_page, file, state):
    page = open_page(file)
    choice = page.locator(f"#sample-filters option[value={state}]")
    expected = int(re.findall(r"\((\d+)\)", choice.inner_text())[0])
    page.locator("select[name=state]").select_option(state)
    assert len(listed(page)) == expected > 0
    assert picked(page) == listed(page)[0]
    mark = {"wrong": "wrong", "abstained": "no prediction", "novel": "novel"}[state]
    assert mark in page.locator(".sample.picked h3").inner_text()


@pytest.mark.slow
def test_the_rule_behind_a_prediction_is_one_click_away_even_where_it_was_filtered_out(open_page, file):
    page = open_page(file)
    page.get_by_label("Confidence at least").fill("100")
    page.locator("select[name=class]").select_option("setosa")
    page.get_by_label("Find").fill("virginica")
    link = page.locator(".sample.picked a[href^='#rule-']").first
    target = link.get_attribute("href")
    link.click()
    page.locator(target).wait_for(state="visible")
    assert page.locator(target).get_attribute("data-class") == "2"


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 400, 768])
def test_nothing_is_wider_than_a_phone(open_page, file, width):
    page = open_page(file, viewport={"width": width, "height": 740}, has_touch=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("#rule-table details summary, .terms summary").first.click()
    page.locator("th[data-key=support] button").tap()
    assert rules(page, "support") == sorted(rules(page, "support"), reverse=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


CUT_OFF = """() => [...document.querySelectorAll("main *")].filter(one => one.checkVisibility()
  && one.clientWidth && !["inline", "contents"].includes(getComputedStyle(one).display)
  && one.scrollWidth > one.clientWidth + 1).map(one => one.outerHTML.slice(0, 120))"""
BEYOND = """() => [...document.querySelectorAll("main *")].filter(one => one.checkVisibility()
  && one.getBoundingClientRect().right > innerWidth + 1).map(one => one.outerHTML.slice(0, 120))"""


@pytest.mark.parametrize("width", [390, 1200])
def test_nothing_is_cut_off_or_has_to_be_moved_sideways(open_page, evidence_file, width):
    page = open_page(evidence_file, viewport={"width": width, "height": 800})
    for number in (0, 5, 11):
        page.locator("#sample-list a").nth(number).click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(CUT_OFF) == []
        assert page.evaluate(BEYOND) == []


@pytest.mark.slow
def test_the_bars_of_the_picked_sample_are_seen(open_page, evidence_file):
    page = open_page(evidence_file)
    bars = page.locator(".sample.picked .evidence path:not(.zero)")
    assert bars.count() >= 4
    widths = [bars.nth(place).bounding_box()["width"] for place in range(bars.count())]
    assert max(widths) > 100
    assert page.locator("#importances li .bar i").first.bounding_box()["width"] > 100


def test_without_javascript_all_rules_and_any_sample_can_be_read(open_page, file):
    page = open_page(file, java_script_enabled=False)
    assert page.locator("#rule-table tbody tr:visible").count() == page.locator("#rule-table tbody tr").count()
    assert not page.locator("#rule-filters").is_visible()
    link = page.locator("#sample-list a").nth(3)
    link.click()
    assert page.locator(link.get_attribute("href")).is_visible()


@pytest.mark.slow
def test_print_shows_all_rules_the_pictures_and_the_picked_sample(open_page, file):
    page = open_page(file)
    page.locator("select[name=class]").select_option("setosa")
    page.get_by_role("button", name="Next").click()
    number = picked(page)
    page.emulate_media(media="print")
    assert page.locator("#rule-table tbody tr:visible").count() == page.locator("#rule-table tbody tr").count()
    assert page.locator("img:visible").count() == 3
    assert picked(page) == number
    for hidden in ("#rule-filters", "#sample-filters", "#sample-list", "nav"):
        assert not page.locator(hidden).is_visible()


def test_pictures_are_there(open_page, file):
    page = open_page(file)
    assert page.eval_on_selector_all("img", "all => all.every(one => one.complete && one.naturalWidth > 200)")


def test_hostile_names_run_nothing(open_page, tmp_path):
    random = np.random.RandomState(0)
    y = np.where(np.arange(40) % 2, HOSTILE, '"><img src=x onerror=alert(2)>')
    X = pd.DataFrame({HOSTILE: random.rand(40) + np.arange(40) % 2, "'\"{{ 1 }}": random.choice([HOSTILE, "b"], 40)})
    model = WESSLART(3, vigilance=0.7, random_state=0).fit(X, y)
    page = open_page(sslart.report(model, X, y, tmp_path / "hostile.html", title=HOSTILE, sample_names=[HOSTILE] * 40))
    assert page.locator("h1").inner_text() == HOSTILE
    page.locator("select[name=class]").select_option(HOSTILE)
    page.locator("select[name=feature]").select_option(HOSTILE)
    page.get_by_role("button", name="Next").click()
    assert HOSTILE in page.locator(".sample.picked").inner_text()
