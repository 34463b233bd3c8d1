"""Reports of Morgan's experiment: an HTML page, tables and plots."""

from examples.papers.morgan2004.report.page import FILES, write_morgan_report
from examples.papers.morgan2004.report.plots import Plots, draw
from examples.papers.morgan2004.report.tables import all_tables, curve_table, difference_table, pick_table, topic_table
from structsvm.protocols.report import Written

__all__ = [
    "FILES",
    "Plots",
    "Written",
    "all_tables",
    "curve_table",
    "difference_table",
    "draw",
    "pick_table",
    "topic_table",
    "write_morgan_report",
]
