"""The report: one HTML file that shows a model, its predictions, their quality and the limits, without a network.

Jinja2 and matplotlib are imported only when a report is made: ``pip install "sslart[report]"``.
"""

from sslart.reporting._page import report

__all__ = [
    "report",
]
