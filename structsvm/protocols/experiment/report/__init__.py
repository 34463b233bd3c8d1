"""What an experiment found, for people and for programs: an HTML page, and tables in several formats."""

from structsvm.protocols.experiment.report.findings import findings
from structsvm.protocols.experiment.report.page import Page, as_page
from structsvm.protocols.experiment.report.plots import Plot, Plots, draw
from structsvm.protocols.experiment.report.tables import (
    all_tables,
    data_table,
    fits_table,
    legend,
    map_table,
    map_tables,
    query_table,
)
from structsvm.protocols.experiment.report.writing import Written, write_report

__all__ = [
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
