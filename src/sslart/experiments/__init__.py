"""The experiments of the paper: run on the real data, measured beside printed. The command is `sslart reproduce`."""

from sslart.experiments._runner.registry import EXPERIMENTS
from sslart.experiments._runner.report import write as write_report
from sslart.experiments._runner.run import Run, Settings, run, write_records

__all__ = ["EXPERIMENTS", "Run", "Settings", "run", "write_records", "write_report"]
