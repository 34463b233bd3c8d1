"""Tables: described once, and written as text, Markdown, LaTeX, CSV and JSON."""
