"""How a flow becomes a method of the client that waits, and of the one that awaits."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from sslart.client._flows import Flow

Given = ParamSpec("Given")
Result = TypeVar("Result")


def waiting(flow: Callable[Given, Flow[Result]]) -> Callable[Concatenate[Any, Given], Result]:
    """Return a method that runs a flow to its end."""

    @functools.wraps(flow)
    def method(self: Any, /, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        found: Result = self._run(flow(*args, **kwargs))
        return found

    _describe(method, flow)
    return method


def awaiting(flow: Callable[Given, Flow[Result]]) -> Callable[Concatenate[Any, Given], Awaitable[Result]]:
    """Return a coroutine method that runs a flow to its end."""

    @functools.wraps(flow)
    async def method(self: Any, /, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        found: Result = await self._run(flow(*args, **kwargs))
        return found

    _describe(method, flow)
    return method


def _describe(method: Any, flow: Callable[..., Any]) -> None:
    """Let help and the reference show the parameters of the flow, and what it returns at its end."""
    signature = inspect.signature(flow)
    first = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    result = str(signature.return_annotation).removeprefix("Flow[").removesuffix("]")
    method.__signature__ = signature.replace(
        parameters=[first, *signature.parameters.values()], return_annotation=result
    )
