"""What Morgan's experiment found, for people and for programs: an HTML page, tables and plots."""

from structsvm.protocols.morgan.report.page import FILES, Written, write_morgan_report
from structsvm.protocols.morgan.report.plots import Plots, draw
from structsvm.protocols.morgan.report.tables import all_tables, curve_table, difference_table, pick_table, topic_table

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
