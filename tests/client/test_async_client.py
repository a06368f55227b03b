"""The client whose methods are awaited does what the other does."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path

import pytest
from service import flowers, rows_of
from wire import Wire

from sslart.client import AccessError, AsyncClient, Client, UnreachableError
from sslart.server import serve

ROWS = rows_of(flowers())


def public(kind: type) -> dict[str, object]:
    return {name: one for name, one in vars(kind).items() if not name.startswith("_") and inspect.isfunction(one)}


def test_both_clients_have_the_same_methods_with_the_same_parameters() -> None:
    waits, awaits = public(Client), public(AsyncClient)
    assert waits.keys() == awaits.keys()
    for name in waits.keys() - {"events"}:
        assert inspect.iscoroutinefunction(awaits[name])
        assert inspect.signature(waits[name]) == inspect.signature(awaits[name])
        assert inspect.getdoc(waits[name])


def test_help_shows_what_a_method_takes_and_returns() -> None:
    signature = inspect.signature(Client(url="http://127.0.0.1:1").predict)
    assert str(signature) == (
        "(name: 'str', X: 'Any', *, explain: 'bool' = False, abstain_below: 'float | None' = None) -> 'Predictions'"
    )


def test_many_requests_at_once_are_answered_as_one_after_the_other(tmp_path: Path) -> None:
    async def answers(url: str) -> list[object]:
        async with AsyncClient(url) as client:
            path = tmp_path / "flowers.csv"
            flowers().to_csv(path, index=False)
            await client.fit("flowers", path, label="species")
            return await asyncio.gather(*(client.predict("flowers", [row]) for row in ROWS))

    with serve(tmp_path / "store") as service, Client(service.url) as client:
        found = asyncio.run(answers(service.url))
        assert [one.classes for one in found] == [[one] for one in client.predict("flowers", ROWS).classes]


@pytest.mark.slow
def test_errors_and_retries_are_the_same(tmp_path: Path) -> None:
    async def scene(url: str, wire: Wire) -> None:
        async with (
            AsyncClient(url) as client,
            AsyncClient(wire.url) as unsure,
            AsyncClient(wire.url, retries=0) as once,
        ):
            await client.fit("flowers", flowers(), label="species")
            wire.drop_answers = True
            with pytest.raises(UnreachableError):
                await once.models()
            asyncio.get_running_loop().call_later(0.3, setattr, wire, "drop_answers", False)
            assert (await unsure.learn("flowers", ROWS[:1])).rows == (150,)
            assert (await client.model("flowers"))["rows"] == 151
            await client.add_token("lead", "admin")
            with pytest.raises(AccessError):
                await client.models()

    with serve(tmp_path) as service, Wire(service.url) as wire:
        asyncio.run(scene(service.url, wire))
