"""Sets of outputs with a linear score: programs, oracles, and named sets with compiled maximizers."""

from structsvm.inference.sets.alignment import Alignment
from structsvm.inference.sets.arborescence import Arborescence
from structsvm.inference.sets.assignment import Assignment
from structsvm.inference.sets.base import Bounded, CompiledSet, FeasibleSet
from structsvm.inference.sets.directed_path import DirectedPath
from structsvm.inference.sets.knapsack import Knapsack
from structsvm.inference.sets.oracle import Oracle
from structsvm.inference.sets.program import Program
from structsvm.inference.sets.projective_tree import ProjectiveTree
from structsvm.inference.sets.segmentation import Segmentation
from structsvm.inference.sets.spanning_tree import SpanningTree
from structsvm.inference.sets.subset import Subset

__all__ = [
    "Alignment",
    "Arborescence",
    "Assignment",
    "Bounded",
    "CompiledSet",
    "DirectedPath",
    "FeasibleSet",
    "Knapsack",
    "Oracle",
    "Program",
    "ProjectiveTree",
    "Segmentation",
    "SpanningTree",
    "Subset",
]
