"""Records of the journal: their content, and a checksum over each."""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from sslart.server.store._errors import DamagedError

CREATE, TABLE, IMPORT, FIT, LEARN, LABEL, SET = "create", "table", "import", "fit", "learn", "label", "set"
PACKED_FROM = 1024  # bytes
CHECKSUM_BYTES = 16
_PLAIN, _PACKED = b"J", b"Z"


def checksum(*parts: Any) -> bytes:
    """Return a checksum over numbers, texts and bytes, each with its length."""
    digest = blake2b(digest_size=CHECKSUM_BYTES)
    for part in parts:
        content = part if isinstance(part, bytes) else repr(part).encode()
        digest.update(struct.pack("<Q", len(content)))
        digest.update(content)
    return digest.digest()


def packed(values: Any) -> bytes:
    """Return plain values as bytes."""
    content = json.dumps(values, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    return _PLAIN + content if len(content) < PACKED_FROM else _PACKED + zlib.compress(content, 1)


def unpacked(payload: bytes) -> Any:
    """Return the values that `packed` converted."""
    content = payload[1:]
    return json.loads(zlib.decompress(content) if payload[:1] == _PACKED else content)


@dataclass(frozen=True)
class Record:
    """One entry of the journal of a model.

    Attributes
    ----------
    model, sequence : int
        The number of the model, and that of the record in its journal, from 1.
    kind : str
    time : float
        Seconds since 1970.
    actor : str
        Who sent the request.
    first_row, n_rows : int
        The rows that the record brings, numbered through all records of the model.
    payload : bytes
    """

    model: int
    sequence: int
    kind: str
    time: float
    actor: str
    first_row: int
    n_rows: int
    payload: bytes

    def content(self) -> dict[str, Any]:
        """Return the values of the record."""
        values: dict[str, Any] = unpacked(self.payload)
        return values

    def checksum(self) -> bytes:
        """Return the checksum over all of the record."""
        return checksum(
            self.model,
            self.sequence,
            self.kind,
            self.time,
            self.actor,
            self.first_row,
            self.n_rows,
            self.payload,
        )

    @classmethod
    def checked(cls, *values: Any) -> Record:
        """Return a record of the values of a row of the journal, the checksum last, or raise a DamagedError."""
        record = cls(*values[:-1])
        if record.checksum() != values[-1]:
            raise DamagedError(
                f"Record {record.sequence} of the journal is damaged: its checksum does not fit. Run sslart serve DIR "
                "--verify, and restore a backup."
            )
        return record
