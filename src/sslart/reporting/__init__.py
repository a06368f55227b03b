"""The report: one HTML file that shows a model, its predictions, their quality and the limits, without a network.

Jinja2 and matplotlib, which the extra `report` brings, are imported only when a report is made.
"""

from sslart.reporting._page import report

__all__ = [
    "report",
]
