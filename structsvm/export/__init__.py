"""Trained rankers as files of other programs, one file a format.

`export` writes one; `structsvm.registry.exports` has the names of the formats.
"""

from structsvm.export.base import Form, Format
from structsvm.export.writing import export

__all__ = ["Form", "Format", "export"]
