"""Make docs/_static/math.woff2, the part of STIX Two Math that formulas need.

    pip install brotli fonttools ziamath    # the last has the font
    python docs/formulas/font.py

Letters in italics and upright, Greek, and the signs of plain mathematics are in it, with all their sizes; a sign that
is not comes from a font of the reader's.
"""

from importlib.resources import files
from pathlib import Path

from fontTools import subset

CHARACTERS = (
    "U+20-7E,A0,A8,AF-B1,B4,B7,D7,F7,131,237,2C6-2C7,2D8-2DD,302,304,391-3F6,2013-2014,2016,2020-2022,2026,2032-2034,"
    "20D7,210E,2113,2115,211D,2190-2194,21A6,21D0-21D4,2200-222B,2234-2237,223C-224B,2260-226B,2282-228B,2295-2299,"
    "22A4-22A5,22C0-22C5,22EE-22F1,2308-230B,27E8-27E9,2A7D-2A7E,1D434-1D467,1D6E2-1D71B"
)

if __name__ == "__main__":
    options = subset.Options(flavor="woff2", layout_features=[], hinting=False)
    font = subset.load_font(files("ziamath") / "fonts" / "STIXTwoMath-Regular.ttf", options)
    shape = subset.Subsetter(options)
    shape.populate(unicodes=subset.parse_unicodes(CHARACTERS.removeprefix("U+")))
    shape.subset(font)
    # As in TeX, all subscripts and all superscripts of letters are on one line, whatever the height of the letter.
    font["MATH"].table.MathConstants.SubscriptBaselineDropMin.Value = 0
    font["MATH"].table.MathConstants.SuperscriptBaselineDropMax.Value = 400
    subset.save_font(font, str(Path(__file__).parents[1] / "_static" / "math.woff2"), options)
