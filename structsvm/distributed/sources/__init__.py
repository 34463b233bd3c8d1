"""Where partitions come from: one file a kind of source, which makes delayed calls that return a `Partition`."""

from structsvm.distributed.sources.collections import of_collections
from structsvm.distributed.sources.files import FileColumns, are_files, of_files
from structsvm.distributed.sources.given import is_call, of_list, require_calls

__all__ = ["FileColumns", "are_files", "is_call", "of_collections", "of_files", "of_list", "require_calls"]
