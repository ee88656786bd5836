# Written by scripts/stubs from the package's `attach` call; do not edit.
from .descent import batches as batches
from .descent import minimize as minimize
from .descent import stable_learning_rate as stable_learning_rate
from .gradient_check import check_gradient as check_gradient
from .laplace import laplace_approximation as laplace_approximation
from .schedules import Constant as Constant
from .schedules import Exponential as Exponential
from .schedules import GreedyInLimit as GreedyInLimit
from .schedules import InvScaling as InvScaling
from .schedules import InverseDecay as InverseDecay
from .schedules import LinearDecay as LinearDecay
from .schedules import Optimal as Optimal
from .schedules import PegasosSchedule as PegasosSchedule
from .schedules import ReduceOnPlateau as ReduceOnPlateau
from .schedules import Schedule as Schedule
from .schedules import StepDecay as StepDecay
from .schedules import VisitDecay as VisitDecay

__all__ = ["Constant", "Exponential", "GreedyInLimit", "InvScaling", "InverseDecay", "LinearDecay", "Optimal", "PegasosSchedule", "ReduceOnPlateau", "Schedule", "StepDecay", "VisitDecay", "batches", "check_gradient", "laplace_approximation", "minimize", "stable_learning_rate"]
