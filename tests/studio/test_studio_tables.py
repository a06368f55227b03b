"""The view Table: from a file to a model, and what its columns are for."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from acting import card, drop, lines, shown, told
from opened import Opened, studio, wait_for


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory, browser: Any) -> Iterator[Opened]:
    """Return a studio without any model."""
    with studio(tmp_path_factory.mktemp("studio"), browser) as found:
        yield found


def plants(n: int = 90) -> pd.DataFrame:
    """Return a table with columns that make no features."""
    random = np.random.default_rng(0)
    is_tall = np.arange(n) % 2 == 0
    frame = pd.DataFrame({"height": random.normal(size=n) + is_tall, "leaves": random.normal(size=n)})
    frame["soil"] = random.integers(1, 4, n)
    frame["serial_id"] = np.arange(n) + 1000
    frame["year"] = 2024
    frame["kind"] = np.where(is_tall, "tall", "small")
    frame["kind_code"] = np.where(is_tall, "T", "S")
    return frame


def large(n: int = 12_000) -> bytes:
    """Return a table whose fit takes some seconds."""
    random = np.random.default_rng(1)
    frame = pd.DataFrame(random.normal(size=(n, 12)), columns=[f"sensor {place}" for place in range(12)])
    frame["state"] = np.where(frame["sensor 0"] > 0, "on", "off")
    return frame.to_csv(index=False).encode()


def models(opened: Opened) -> list[str]:
    return [one["name"] for one in opened.http.get("/v1/models").json()["models"]]


def about(opened: Opened, name: str) -> dict[str, Any]:
    found: dict[str, Any] = opened.http.get(f"/v1/models/{name}").json()
    return found


def fitted(page: Any) -> None:
    """Wait until a fit has ended."""
    page.get_by_text("The model was refitted.").wait_for()
    shown(page)


def as_excel(frame: pd.DataFrame) -> bytes:
    content = io.BytesIO()
    frame.to_excel(content, index=False)
    return content.getvalue()


def as_parquet(frame: pd.DataFrame) -> bytes:
    content = io.BytesIO()
    frame.to_parquet(content, index=False)
    return content.getvalue()


def test_a_file_is_dropped_and_its_columns_get_their_roles(opened: Opened) -> None:
    page = opened.page("-/table")
    drop(page.get_by_test_id("drop"), "Plants of 2024.csv", plants().to_csv(index=False).encode())
    page.get_by_role("heading", name="Table Plants-of-2024").wait_for()
    columns = page.get_by_role("table").filter(has=page.get_by_role("columnheader", name="Used as"))
    page.get_by_label("Which column contains the classes?").select_option("kind")
    page.get_by_text("90 rows, 6 features.").wait_for()
    wait_for(lambda: page.get_by_role("region", name="Fitting the model").count() == 0)
    page.get_by_text("One column is changed: kind.").wait_for()
    page.get_by_role("button", name="Refit the model").click()
    fitted(page)
    assert about(opened, "Plants-of-2024")["classes"] == ["small", "tall"]
    warnings = {line[0].split("\n")[0]: line[0] for line in lines(columns)}
    assert "constant" in warnings["year"]
    assert "id" in warnings["serial_id"].split()
    assert "leak" in warnings["kind_code"]
    assert warnings["height"] == "height"
    page.get_by_text("The labels come from the column “kind”.").wait_for()

    for name, role in (
        ("soil", "Feature, as categories"),
        ("kind_code", "Ignored"),
        ("serial_id", "ID (identifies rows)"),
    ):
        page.get_by_label(f"Role of the column {name}").select_option(role)
    page.get_by_role("button", name="Discard the changes").click()
    assert page.get_by_label("Role of the column soil").input_value() == "feature"
    for name, role in (
        ("soil", "Feature, as categories"),
        ("kind_code", "Ignored"),
        ("serial_id", "ID (identifies rows)"),
    ):
        page.get_by_label(f"Role of the column {name}").select_option(role)
    page.get_by_text("3 columns are changed").wait_for()
    page.get_by_role("button", name="Refit the model").click()
    page.get_by_text("3 columns are changed").wait_for(state="detached")
    wait_for(lambda: about(opened, "Plants-of-2024")["settings"]["id"] == "serial_id")
    shown(page)
    found = about(opened, "Plants-of-2024")
    assert (found["settings"]["category"], found["settings"]["ignore"]) == (["soil"], ["kind_code"])
    wait_for(lambda: "kind_code" not in about(opened, "Plants-of-2024")["features"])
    samples = opened.http.get("/v1/models/Plants-of-2024/samples").json()
    kinds = {one["name"]: one["kind"] for one in samples["features"]}
    assert kinds == {"height": "number", "leaves": "number", "soil": "category", "year": "number"}
    page.close()


@pytest.mark.parametrize(
    ("ending", "write"), [("xlsx", as_excel), pytest.param("parquet", as_parquet, marks=pytest.mark.slow)]
)
def test_a_file_is_chosen(opened: Opened, ending: str, write: Callable[[pd.DataFrame], bytes]) -> None:
    frame = plants()[["height", "leaves"]]
    page = opened.page("-/table")
    page.get_by_label("Name of the model").fill("no name")
    page.get_by_text("Use Latin letters").wait_for()
    assert page.get_by_role("button", name="Choose a file").is_disabled()
    page.get_by_label("Name of the model").fill(f"chosen-{ending}")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a file").click()
    chooser.value.set_files({"name": f"plants.{ending}", "mimeType": "", "buffer": write(frame)})
    page.get_by_role("heading", name=f"Table chosen-{ending}").wait_for()
    page.get_by_text("90 rows, 2 features.").wait_for()
    stored = opened.http.get(f"/v1/models/chosen-{ending}/rows/7").json()["cells"]
    assert stored == pytest.approx(frame.loc[7].to_dict(), rel=1e-6)
    page.close()


def test_classes_are_named_where_there_is_no_label(opened: Opened) -> None:
    page = opened.page("chosen-xlsx/table")
    page.get_by_text("No column has labels.").wait_for()
    assert page.get_by_role("link", name="Label samples").count() == 0
    for name in ("tall", "small", "oak"):
        page.get_by_label("Name of a new class").fill(name)
        page.get_by_role("button", name="Add the class").click()
        page.get_by_role("button", name=f"Remove the class {name}").wait_for()
    page.get_by_role("button", name="Remove the class oak").click()
    path = "/v1/models/chosen-xlsx/properties"
    wait_for(lambda: opened.http.get(path).json()["properties"]["classes"] == ["tall", "small"])
    page.get_by_role("link", name="Label samples").click()
    page.get_by_role("button", name="tall").first.wait_for()
    page.close()


def test_an_example(opened: Opened) -> None:
    page = opened.page("-/table")
    example = opened.http.get("/v1/examples").json()["examples"][0]
    page.get_by_role("button", name=example["title"]).click()
    page.get_by_role("heading", name=f"Table {example['name']}").wait_for()
    wait_for(lambda: about(opened, example["name"])["rows"] == example["rows"])
    page.close()


@pytest.mark.slow
def test_a_file_that_is_no_table_changes_nothing(opened: Opened) -> None:
    page = opened.page("chosen-xlsx/table")
    shown(page)
    before = models(opened)
    page.get_by_text("Start with another table").click()
    place = page.get_by_test_id("drop")
    opened.expected = ("status of 4",)
    drop(place, "broken.xlsx", b"PK\x03\x04 this is no workbook")
    alert = page.get_by_role("alert").filter(has_text="cannot be read as a spreadsheet")
    alert.wait_for()
    assert "Save it as CSV" in alert.inner_text()
    opened.expected = ()
    assert models(opened) == before
    assert about(opened, "chosen-xlsx")["rows"] == 90
    drop(place, "good.csv", plants().to_csv(index=False).encode())
    page.get_by_role("heading", name="Table good").wait_for()
    page.close()


@pytest.mark.slow
def test_a_saved_model_is_opened_without_its_rows(opened: Opened) -> None:
    content = plants().to_csv(index=False).encode()
    assert opened.http.put("/v1/models/kept", params={"wait": 60}, content=content).json()["state"] == "done"
    page = opened.page("kept/table")
    page.get_by_label("Which column contains the classes?").select_option("kind")
    wait_for(lambda: page.get_by_role("region", name="Fitting the model").count() == 0)
    page.get_by_role("button", name="Refit the model").click()
    fitted(page)
    page.get_by_text("Start with another table").click()
    content = opened.http.get("/v1/models/kept/export").content
    drop(page.get_by_test_id("drop").first, "saved.sslart", content)
    page.get_by_role("heading", name="Table saved").wait_for()
    page.get_by_text("The model has no rows yet.").wait_for()
    assert about(opened, "saved")["classes"] == ["small", "tall"]
    for view, words in (
        ("map", "There are no samples yet"),
        ("label", "There are no questions yet"),
        ("understand", "Importance of features"),
        ("trust", "Confusion matrix"),
        ("watch", "No rows have arrived since the last fit."),
    ):
        page.goto(f"{opened.url}/studio/#/saved/{view}")
        page.get_by_text(words).first.wait_for()
        shown(page)
    page.close()


@pytest.mark.slow
def test_a_fit_is_cancelled_begun_again_and_outlives_the_page(opened: Opened) -> None:
    page = opened.page("-/table")
    drop(page.get_by_test_id("drop"), "large.csv", large())
    page.get_by_role("heading", name="Table large").wait_for()
    fit = page.get_by_role("region", name="Fitting the model")
    fit.get_by_role("button", name="Cancel the fit").click()
    page.get_by_text("The last fit was cancelled").wait_for()
    assert opened.http.get("/v1/jobs").json()["jobs"][0]["state"] == "cancelled"
    page.get_by_label("Which column contains the classes?").select_option("state")
    page.get_by_role("button", name="Refit the model").last.click()
    fit.wait_for()
    page.reload()
    fit.wait_for()
    page.get_by_text("Fitting…").wait_for()
    assert opened.http.get("/v1/jobs").json()["jobs"][0]["state"] == "running"
    wait_for(lambda: fit.count() == 0, seconds=60)
    page.get_by_text("The labels come from the column “state”.").wait_for()
    assert about(opened, "large")["classes"] == ["off", "on"]
    page.close()


@pytest.mark.slow
def test_a_model_is_deleted_when_that_is_confirmed(opened: Opened) -> None:
    page = opened.page("chosen-parquet/table")
    card(page, "Models").get_by_role("button", name="Delete the model chosen-parquet").click()
    dialog = page.get_by_role("dialog", name="Delete chosen-parquet?")
    dialog.get_by_role("button", name="Cancel").click()
    dialog.wait_for(state="detached")
    assert "chosen-parquet" in models(opened)
    page.get_by_role("button", name="Delete the model chosen-parquet").click()
    dialog.get_by_role("button", name="Delete permanently").click()
    told(page, "The model chosen-parquet was deleted.")
    page.get_by_role("heading", name="Start with a table").wait_for()
    assert "chosen-parquet" not in models(opened)
    page.close()
