"""The experiments of the paper: run on the real data, measured beside printed. The command is `sslart reproduce`."""

from sslart.experiments._registry import EXPERIMENTS
from sslart.experiments._report import write as write_report
from sslart.experiments._run import Run, Settings, run, write_records

__all__ = ["EXPERIMENTS", "Run", "Settings", "run", "write_records", "write_report"]
