"""Texts of the help."""


def example(*lines: str) -> str:
    """Return command lines as the text below a command's options, one a line."""
    return "\n".join(["\b", "Example:", *(f"  {line}" for line in lines)])
