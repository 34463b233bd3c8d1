"""What a text is made of, in an index: its terms."""

from attrs import frozen


@frozen
class Analyzer:
    """Makes terms of a text."""

    def terms(self, text: str) -> list[str]:
        """Return the terms of a text, in their order, as often as they are there."""
        return text.lower().split()
