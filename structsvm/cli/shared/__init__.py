"""Options, messages and paths that several commands share."""
