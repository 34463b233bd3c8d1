"""LETOR's format: svmlight text with query ids, one document per line."""
