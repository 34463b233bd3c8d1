"""Tables: one description, and a renderer for each format."""

from structsvm.tables.base import Column, Record, Table
from structsvm.tables.formats import as_csv, as_json, as_latex, as_markdown, as_text, lay_out

__all__ = ["Column", "Record", "Table", "as_csv", "as_json", "as_latex", "as_markdown", "as_text", "lay_out"]
