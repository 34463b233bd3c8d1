"""Scale features and scores: within each query, or over all training rows."""
