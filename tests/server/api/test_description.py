"""/openapi.json is accurate: Schemathesis sends requests that it describes, and ones that it rules out."""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from service import application, fit_flowers, flowers, rows_of

from sslart.server.api._app import described

BY_CHANCE = 1
FEATURES = list(rows_of(flowers())[0])
ENDLESS = "events"  # an answer that does not end
CHECKED = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "unsupported_method",
    "allow_header_conformance",
)
TAKES_ANYTHING = {  # what is described is taken: here a model adds no conditions of its own
    "list_models",
    "list_jobs",
    "list_tokens",
    "server_metadata",
    "label_history",
    "rules",
    "audit",
    "backup",
    "metrics",
    "live",
    "ready",
}


DESCRIPTION = described()
CONFIG = {"generation": {"database": "none"}, "phases": {"stateful": {"enabled": False}}}
POSITIVE, NEGATIVE = MODES = ("positive", "negative")


@functools.cache
def operations() -> dict[str, Any]:
    """Return the operations by their names; Schemathesis takes seconds to import, and only one process needs it."""
    import schemathesis

    schema = schemathesis.openapi.from_dict(copy.deepcopy(DESCRIPTION), config=schemathesis.Config.from_dict(CONFIG))
    found = [one.ok() for one in schema.get_all_operations()]
    return {one.definition.raw["operationId"]: one for one in found if one is not None}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Return a client that shows an admin token, of a service with the model flowers."""
    with application(tmp_path_factory.mktemp("store")) as client:
        fit_flowers(client)
        token = client.post("/v1/tokens", json={"name": "root", "scope": "admin"}).json()["token"]
        client.headers["authorization"] = f"Bearer {token}"
        yield client


def aimed(case: Any) -> Any:
    """Return a request that reaches the model, with rows of its features, where it would be refused at once."""
    name = case.path_parameters.get("name") if case.path_parameters else None
    if name is not None and case.operation.definition.raw["operationId"] not in ("delete_model", "revoke_token"):
        case.path_parameters["name"] = "flowers"
    if isinstance(case.query, dict) and isinstance(case.query.get("wait"), int | float):
        case.query["wait"] = min(case.query["wait"], 1)
    rows = case.body.get("rows") if isinstance(case.body, dict) else None
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict):
            cells = list(row.values())
            row.clear()
            row.update(zip(FEATURES, cells, strict=False))
    return case


def sent(service: httpx.Client, name: str, mode: str, n_examples: int) -> None:
    """Send requests of one kind to one path, and check every answer."""
    from schemathesis import GenerationMode
    from schemathesis.checks import CHECKS

    operation = operations()[name]
    checks = [CHECKS.get_one(one) for one in CHECKED]
    if name in TAKES_ANYTHING and mode == POSITIVE:
        checks.append(CHECKS.get_one("positive_data_acceptance"))

    @seed(BY_CHANCE)
    @settings(
        max_examples=n_examples,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=GenerationMode(mode)))
    def check(case: Any) -> None:
        if mode == POSITIVE:
            aimed(case)
        headers = {"Authorization": service.headers["authorization"]}
        case.call_and_validate(base_url=str(service.base_url), headers=headers, checks=checks, timeout=60)

    check()


TAKE_LONG = {"export", "rules", "refit", "add_table"}
TAKES_LONGEST = "random_order"
NAMED = {one["operationId"]: one for methods in DESCRIPTION["paths"].values() for one in methods.values()}
SENT = sorted(set(NAMED) - {ENDLESS})


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=pytest.mark.slow if one == TAKES_LONGEST else ()) for one in SENT]
)
def test_a_request_as_described_gets_an_answer_as_described(service: httpx.Client, name: str) -> None:
    sent(service, name, POSITIVE, 1 if name in TAKE_LONG else 4)


CAN_BE_WRONG = [name for name in SENT if any(NAMED[name].get(part) for part in ("parameters", "requestBody"))]


@pytest.mark.parametrize("name", CAN_BE_WRONG)
def test_a_request_that_is_ruled_out_is_refused(service: httpx.Client, name: str) -> None:
    sent(service, name, NEGATIVE, 4)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", SENT)
def test_many_requests_get_answers_as_described(service: httpx.Client, name: str, mode: str) -> None:
    if mode == POSITIVE or name in CAN_BE_WRONG:
        sent(service, name, mode, 300)


EVERY = [
    pytest.param(operation, id=f"{method} {path}")
    for path, methods in DESCRIPTION["paths"].items()
    for method, operation in methods.items()
]


@pytest.mark.parametrize("operation", EVERY)
def test_every_path_is_described_in_words(operation: dict[str, Any]) -> None:
    assert operation["summary"]
    assert operation["description"].strip().endswith(".")
    assert operation["tags"]
    assert all(one.get("description") for one in operation.get("parameters", ()))
    assert all(one["description"] for one in operation["responses"].values())


@pytest.mark.parametrize("operation", EVERY)
def test_every_success_says_what_it_holds(operation: dict[str, Any]) -> None:
    good = {status: one for status, one in operation["responses"].items() if status.startswith("2")}
    assert good
    for status, one in good.items():
        assert status == "204" or all(content["schema"] for content in one["content"].values())
        assert status == "204" or one["content"]


def test_names_of_operations_are_unique_and_short() -> None:
    names = [one.values[0]["operationId"] for one in EVERY]
    assert len(set(names)) == len(names)
    assert all(name.isidentifier() and len(name) < 30 for name in names)


def test_a_token_is_described_wherever_one_may_be_needed() -> None:
    found = DESCRIPTION
    assert found["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    without = [path for path, methods in found["paths"].items() for one in methods.values() if "security" not in one]
    assert sorted(without) == ["/livez", "/readyz", "/v2/health/live", "/v2/health/ready"]


def test_the_description_is_served(client: httpx.Client) -> None:
    assert client.get("/openapi.json").json() == DESCRIPTION
