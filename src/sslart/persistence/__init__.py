"""Save and load models: one file of arrays and JSON, with a protocol number and a checksum, and nothing executable."""

from sslart.persistence._models import load, save

__all__ = ["load", "save"]
