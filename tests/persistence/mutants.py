"""Files of models that cannot be: decoded, changed at random places, and written back with a right checksum."""

from __future__ import annotations

import copy
import hashlib
import json
import struct
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

PREFIX = struct.Struct("<8sIQ")
MAGIC = b"\x89SSLART\n"
DIGEST_SIZE = 32
ALIGNMENT = 8

NUMBERS: list[Any] = [
    0, 1, -1, 2, 7, 0.5, -0.5, 1e-300, 5e-324, 1e300, -1e300, 1.7e308, 2**31, 2**32, 2**53, 2**53 + 1, 2**62, 2**63 - 1,
    2**63, -(2**63), 10**30, 10**400, {"$float": "nan"}, {"$float": "inf"}, {"$float": "-inf"}, True, False,
]  # fmt: skip
OTHERS: list[Any] = [
    None, "", "a", "a\0", "\ud800", "x" * 300, [], {}, [[]], [None], {"$tuple": []}, {"$tuple": [1, 2]}, {"$dict": []},
    {"$dict": [[1, 2]]}, {"$dict": [[[1], 2]]}, {"$array": 0}, {"$array": -1}, {"$array": 1.0}, {"$array": True},
    {"$array": 10**6}, {"$float": "1e5"}, {"$float": None}, {"$float": 3}, {"$random_state": {}},
    {"$random_state": {"state": {}}}, {"$tuple": 3}, {"$dict": 3}, {"$dict": [1]},
]  # fmt: skip
ELEMENTS = {
    "f": [0.0, 1.0, -0.0, -1.0, 0.1, 0.5, 2.0**-32, 2.0**-33, 1 - 2.0**-32, 1e-300, 5e-324, 1e300, -1e300, 1.7e308,
          np.nan, np.inf, -np.inf],
    "i": [0, 1, -1, 2, 3, 39, 40, 100, 2**31, 2**53, 2**53 + 1, 2**62, 2**63 - 1, -(2**63)],
    "u": [0, 1, 2, 255],
}  # fmt: skip
DTYPES = ["<f8", "<i8", "|u1", "<u2", "<u4"]


@dataclass
class ModelFile:
    """The decoded contents of a model's file."""

    protocol: int
    header: dict[str, Any]
    arrays: list[Any]

    @classmethod
    def read(cls, content: bytes) -> ModelFile:
        _, protocol, length = PREFIX.unpack(content[: PREFIX.size])
        start = PREFIX.size + DIGEST_SIZE
        header = json.loads(content[start : start + length])
        place, arrays = start + length, []
        for one in header.pop("arrays"):
            dtype, n = np.dtype(one["dtype"]), int(np.prod(one["shape"], dtype=np.int64))
            arrays.append(np.frombuffer(content, dtype, n, place).reshape(one["shape"]).copy())
            place += n * dtype.itemsize + -(n * dtype.itemsize) % ALIGNMENT
        assert place == len(content)
        return cls(protocol, header, arrays)

    def to_bytes(self) -> bytes:
        """Return a file with these contents, and a checksum that fits."""
        described = [{"dtype": one.dtype.str, "shape": list(one.shape)} for one in self.arrays]
        header = padded(json.dumps({**self.header, "arrays": described}).encode())
        prefix = PREFIX.pack(MAGIC, self.protocol, len(header))
        rest = header + b"".join(one.tobytes() + bytes(-one.nbytes % ALIGNMENT) for one in self.arrays)
        return prefix + hashlib.sha256(prefix + rest).digest() + rest

    def copy(self) -> ModelFile:
        return ModelFile(self.protocol, copy.deepcopy(self.header), [one.copy() for one in self.arrays])


def padded(header: bytes) -> bytes:
    """Return a header with spaces up to the length that it must have a multiple of."""
    return header + b" " * (-len(header) % ALIGNMENT)


def write_raw(path: Path, header: bytes, protocol: int = 1) -> Path:
    """Write a file with a given header and no arrays, and a checksum that fits."""
    header = padded(header)
    prefix = PREFIX.pack(MAGIC, protocol, len(header))
    path.write_bytes(prefix + hashlib.sha256(prefix + header).digest() + header)
    return path


def mutant_of(file: ModelFile, random: Random) -> tuple[ModelFile, list[str]]:
    """Return a file with one to three changes, and what they are."""
    file = file.copy()
    return file, [_change(file, random) for _ in range(random.choice([1, 1, 1, 1, 2, 3]))]


def _change(file: ModelFile, random: Random) -> str:
    if file.arrays and random.random() < 0.4:
        return _change_array(file, random)
    return _change_header(file, random)


def _place(value: Any, random: Random) -> list[Any]:
    """Return the path of a value inside another: each level is as likely, however much it holds."""
    path: list[Any] = []
    while isinstance(value, dict | list) and value and (not path or random.random() < 0.7):
        path.append(random.choice(list(value) if isinstance(value, dict) else range(len(value))))
        value = value[path[-1]]
    return path


def _change_header(file: ModelFile, random: Random) -> str:
    part = random.choice(["state", "state", "state", "parameters", None])
    root = file.header if part is None or not file.header.get(part) else file.header[part]
    if not isinstance(root, dict | list):
        root = file.header
    *path, key = _place(root, random)
    holder = root
    for step in path:
        holder = holder[step]
    value = holder[key]
    where = f"{part}/{'/'.join(map(str, [*path, key]))}"
    kind = random.choice(["number", "number", "other", "remove", "add", "shape", "nest", "swap"])
    if kind == "number":
        holder[key] = copy.deepcopy(random.choice(NUMBERS))
    elif kind == "other":
        holder[key] = copy.deepcopy(random.choice(OTHERS))
    elif kind == "remove":
        del holder[key]
        return f"{where} removed"
    elif kind == "add" and isinstance(value, list):
        value.insert(random.randrange(len(value) + 1), copy.deepcopy(random.choice([*NUMBERS, *OTHERS, *value[:3]])))
    elif kind == "add" and isinstance(value, dict):
        value[random.choice(["evil", "0", "$tuple", "$array", "weights", "-1"])] = random.choice(NUMBERS)
    elif kind == "shape" and isinstance(value, list) and value:
        holder[key] = random.choice([value[:-1], value[1:], value + value, value[::-1], value[:1]])
    elif kind == "nest":
        for _ in range(random.choice([1, 3, 100])):
            holder[key] = random.choice([[holder[key]], {"$tuple": [holder[key]]}, {"a": holder[key]}])
    elif kind == "swap" and isinstance(value, int | float) and not isinstance(value, bool):
        holder[key] = random.choice([value + 1, value - 1, -value, value * 2, value // 3, str(value), [value]])
    else:
        holder[key] = None
    return f"{where}: {json.dumps(value)[:40]} -> {json.dumps(holder[key])[:60]}"


def _change_array(file: ModelFile, random: Random) -> str:
    number = random.randrange(len(file.arrays))
    array = file.arrays[number]
    kind = random.choice(["element", "element", "element", "all", "byte", "row", "shape", "dtype", "swap", "exchange"])
    flat = array.reshape(-1)
    if kind in ("element", "all") and array.size:
        value = random.choice(ELEMENTS[array.dtype.kind])
        flat[slice(None) if kind == "all" else random.randrange(array.size)] = np.array(value).astype(array.dtype)
        return f"array {number} ({array.dtype}, {array.shape}): {kind} = {value}"
    if kind == "byte" and array.size:
        flat.view(np.uint8)[random.randrange(array.nbytes)] ^= 1 << random.randrange(8)
    elif kind == "row" and len(array):
        file.arrays[number] = random.choice(
            [array[1:], array[:-1], np.concatenate([array, array[:1]]), array[:0]]
        ).copy()
    elif kind == "shape":
        file.arrays[number] = random.choice([flat, array.T, array[None], array[..., None], flat[:1], flat[:0]]).copy()
    elif kind == "dtype":
        dtype = np.dtype(random.choice(DTYPES))
        fits = array.size and array.nbytes % dtype.itemsize == 0 and random.random() < 0.5
        file.arrays[number] = flat.view(dtype) if fits else np.zeros(array.shape, dtype)
    elif kind == "swap" and array.size > 1:
        one, other = random.sample(range(array.size), 2)
        flat[one], flat[other] = flat[other], flat[one]
    elif kind == "exchange" and len(file.arrays) > 1:
        other = random.randrange(len(file.arrays))
        file.arrays[number], file.arrays[other] = file.arrays[other], file.arrays[number]
    return f"array {number} ({array.dtype}, {array.shape}): {kind}"
