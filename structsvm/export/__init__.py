"""Trained rankers as files of other programs, one file a format.

`export` writes one; `FORMATS` are their names.
"""

from structsvm.export.writing import FORMATS, export

__all__ = ["FORMATS", "export"]
