"""Work that requests wait for: carried on where a request is given up, and by a thread where it takes long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

FEW_ROWS = 64  # are predicted in about a millisecond

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")


def to_the_end(
    method: Callable[Arguments, Coroutine[Any, Any, Result]],
) -> Callable[Arguments, Coroutine[Any, Any, Result]]:
    """Run a method to completion even if its request is cancelled, so that models learn every committed record."""

    @wraps(method)
    async def shielded(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        return await asyncio.shield(method(*args, **kwargs))

    return shielded


async def soon(work: Callable[[], Result], n_rows: int) -> Result:
    """Return the result of work on rows: of few at once, of many by a thread, so that other requests do not wait."""
    return work() if n_rows <= FEW_ROWS else await asyncio.to_thread(work)
