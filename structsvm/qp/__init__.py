from structsvm.qp.active_set import ActiveSet
from structsvm.qp.base import DualQP, QPBackend, QPSolution
