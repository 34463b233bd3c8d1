"""What an experiment found, for people and for programs: an HTML page, and tables in several formats."""

from structsvm.plots.svg import Plot
from structsvm.protocols.experiment.report.page import FILES, Page, Written, as_page, findings, write_report
from structsvm.protocols.experiment.report.plots import Plots, draw
from structsvm.protocols.experiment.report.tables import (
    all_tables,
    data_table,
    fits_table,
    legend,
    map_table,
    map_tables,
    query_table,
)

__all__ = [
    "FILES",
    "Page",
    "Plot",
    "Plots",
    "Written",
    "all_tables",
    "as_page",
    "data_table",
    "draw",
    "findings",
    "fits_table",
    "legend",
    "map_table",
    "map_tables",
    "query_table",
    "write_report",
]
