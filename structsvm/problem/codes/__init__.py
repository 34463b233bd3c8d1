"""A point of the n-slack dual whose planes are codes, and steps in the scores of one example.

The plane of an output ŷ is ``(A_i' c, L)`` with the code ``c = c(y) − c(ŷ)``, a few coefficients of the example's
scores. Its value ``L − c·s`` needs only these scores s. A step along a difference c of two codes moves the weights by
``A_i' c`` and the scores by ``A_i A_i' c``, which follows from the products between the example's rows. So an example
is scored once, its multipliers take several exact steps, and its rows are added to the weights once. Dual coordinate
descent for linear SVMs is the case of one score (Hsieh, Chang, Lin, Keerthi and Sundararajan, ICML 2008), or of the
scores of one row (Keerthi, Sundararajan, Chang, Hsieh and Lin, KDD 2008).

If many examples share features, steps of single examples are short. So between passes all multipliers move together,
towards the best combination of this point and three earlier ones (Narkiss and Zibulevsky, "Sequential Subspace
Optimization Method for Large-Scale Unconstrained Problems", 2005), as far as multipliers stay within their caps.
"""

from structsvm.problem.codes.conversion import MOST_VALUES, cuts_of, suits_codes
from structsvm.problem.codes.dual import DualCodes

__all__ = ["MOST_VALUES", "DualCodes", "cuts_of", "suits_codes"]
