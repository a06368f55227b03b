"""Readers of files that an older sslart has written: each turns the header of one protocol into that of the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sslart.persistence._file import PROTOCOL

Header = dict[str, Any]


def upgraded(header: Header, protocol: int) -> Header:
    """Return a header of an older protocol as one of the present protocol."""
    for older in range(protocol, PROTOCOL):
        header = _UPGRADES[older](header)
    return header


def _from_1_to_2(header: Header) -> Header:
    """Protocol 2 has other names: of parameters of evidence mapping, and of parts of the state."""
    names = {"width": "bandwidth", "rank_share": "rank_weight", "label_memory": "max_labels"}
    parameters = {names.get(name, name): value for name, value in header["parameters"].items()}
    state = header["state"]
    if state is not None and "members" in state:
        state = {**state, "members": [_network_state_2(member) for member in state["members"]]}
    elif state is not None:
        state = _network_state_2(state)
    return {**header, "parameters": parameters, "state": state}


def _network_state_2(state: Header) -> Header:
    network = dict(state["network"])
    network["nodes"] = network.pop("prototypes")
    state = {**state, "network": network}
    if "evidence" in state:
        old = state["evidence"]
        mixtures = [{"specs": one["keys"], "ridge": one["ridge"], "weight": one["weight"]} for one in old["chosen"]]
        state["evidence"] = {"reservoir": old["memory"], "mixtures": mixtures, "seed": old["seed"]}
    return state


_UPGRADES: dict[int, Callable[[Header], Header]] = {1: _from_1_to_2}
