"""HTTP service that predicts, explains and learns, with durable writes.

Needs the extra `serve`. `sslart serve` runs one in a process of its own.
"""

from typing import TYPE_CHECKING

from sslart._utils.optional import lazy_names

if TYPE_CHECKING:
    from sslart.server._service import Service, serve

__all__ = ["Service", "serve"]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, {"Service": "sslart.server._service", "serve": "sslart.server._service"})
