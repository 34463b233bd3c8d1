"""Tables with named columns, one module per file format."""
