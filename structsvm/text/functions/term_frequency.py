"""How often a document has a term, for its length: the saturating count of the Okapi family."""

from structsvm.text.functions.statistics import Occurrences
from structsvm.types import Vector


def saturated(found: Occurrences, k1: float, b: float) -> Vector:
    """Return ``tf / (tf + k1 (1 − b + b |d| / avg))``, below 1.

    Robertson and Walker, "Some simple effective approximations to the 2-Poisson model", SIGIR 1994.

    Parameters
    ----------
    found : the postings.
    k1 : what slows saturation, above 0.
    b : how much lengths count, from 0, not at all, to 1.
    """
    relative = found.length / found.collection.average_length
    return found.tf / (found.tf + k1 * (1.0 - b + b * relative))
