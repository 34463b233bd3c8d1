"""Files: read whatever they are packed in, written whole or not at all, and gone on with where work stopped."""
