"""Reports of an experiment: an HTML page, and tables in several formats."""

from structsvm.protocols.experiment.report.page import write_report
from structsvm.protocols.experiment.report.tables import map_table

__all__ = ["map_table", "write_report"]
