"""Export trained rankers to files of other programs; ``structsvm list exports`` shows the names of the formats."""

from structsvm.models.export.base import Format, export

__all__ = ["Format", "export"]
