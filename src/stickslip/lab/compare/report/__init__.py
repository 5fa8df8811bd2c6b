"""Reports of a comparison: an HTML page, and a table for the terminal."""

from stickslip.lab.compare.report.colours import method_colours
from stickslip.lab.compare.report.page import write_report
from stickslip.lab.compare.report.terminal_table import table

__all__ = ["method_colours", "table", "write_report"]
