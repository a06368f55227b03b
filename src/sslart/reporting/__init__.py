"""The report: one HTML file that shows a model, its answers, their quality and their limits, without a network.

Observed, summarised, drawn and rendered in separate steps; only the last one writes. Jinja2 and matplotlib are imported
only when a report is made: ``pip install "sslart[report]"``.
"""

from sslart.reporting._page import report

__all__ = [
    "report",
]
