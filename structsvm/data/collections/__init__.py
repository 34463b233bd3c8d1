"""Documents and topics of text collections, in several formats."""
