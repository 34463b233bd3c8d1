"""Tables as lines of text."""

from rich.cells import cell_len

from structsvm.foundation.tables.layout import lay_out


def test_texts_are_wrapped_and_numbers_are_not():
    rows = [["a few words here", "12.50", "n" * 9], ["流れと翼の力", "-0.25", ""]]
    assert list(lay_out(["what", "value", "name"], [rows[:1], rows[1:]], [False, True, False], 24)) == [
        "what     value   name",
        "─" * 24,
        "a few    12.50   nnnnnnn",
        "words            nn",
        "here",
        "",
        "流れと   -0.25",
        "翼の力",
    ]
    assert all(cell_len(line) <= 22 for line in lay_out(["what", "value", "name"], [rows], [False, True, False], 22))
    assert list(lay_out(["what", "value"], [[["two  words", "1"]]], [False, True])) == [
        "what         value",
        "─" * 18,
        "two  words       1",
    ]
