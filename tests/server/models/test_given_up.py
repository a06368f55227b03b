"""A request that is given up while it is written leaves the store and the models in agreement."""

from __future__ import annotations

import asyncio
from pathlib import Path

from sslart.server.models._registry import Registry
from sslart.server.models._settings import ModelSettings
from sslart.server.store import Store
from sslart.server.store._journal import models


def test_a_model_whose_creation_or_deletion_was_given_up_is_there_or_gone_for_all(tmp_path: Path) -> None:
    hub = Registry(Store(tmp_path))
    hub.start()

    def names() -> tuple[list[str], list[str]]:
        return [one.name for one in models(hub.store.reader())], [one.name for one in hub.models()]

    async def create() -> None:
        await hub.create("pump", ModelSettings(), "test")

    async def delete() -> None:
        await hub.delete(hub.model("pump"), "test")

    async def given_up() -> None:
        for work in (
            lambda: hub.create("pump", ModelSettings(), "test"),
            lambda: hub.delete(hub.model("pump"), "test"),
        ):
            task = asyncio.ensure_future(work())
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            assert task.cancelled()
            for _ in range(500):
                stored, hosted = names()
                if stored == hosted == (["pump"] if not seen else []):
                    break
                await asyncio.sleep(0.01)
            seen.append((stored, hosted))

    seen: list[tuple[list[str], list[str]]] = []
    try:
        asyncio.run(given_up())
    finally:
        hub.stop()
    assert seen == [(["pump"], ["pump"]), ([], [])]
