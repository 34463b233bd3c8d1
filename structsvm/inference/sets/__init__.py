"""Sets of outputs with a linear score: programs, oracles, and named sets with compiled maximizers."""

from structsvm.inference.sets.base import Bounded, CompiledSet, FeasibleSet
from structsvm.inference.sets.subset import Subset

__all__ = ["Bounded", "CompiledSet", "FeasibleSet", "Subset"]
