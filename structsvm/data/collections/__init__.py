"""Readers of raw text: documents and topics, one file a format."""

from structsvm.data.collections.document import Document
from structsvm.data.collections.reading import Documents, read_documents, read_topics
from structsvm.data.collections.topic import Topic

__all__ = ["Document", "Documents", "Topic", "read_documents", "read_topics"]
