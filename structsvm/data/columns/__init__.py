"""Tables whose columns have names: one file a format, and what they have in common."""
