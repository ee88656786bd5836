# Written by scripts/stubs from the package's `attach` call; do not edit.
from . import association as association
from . import bayes as bayes
from . import cli as cli
from . import cluster as cluster
from . import core as core
from . import datasets as datasets
from . import decide as decide
from . import decomposition as decomposition
from . import distributions as distributions
from . import ensemble as ensemble
from . import gp as gp
from . import graphical as graphical
from . import kernels as kernels
from . import lab as lab
from . import linear as linear
from . import loops as loops
from . import losses as losses
from . import mixture as mixture
from . import neighbors as neighbors
from . import neural as neural
from . import plot as plot
from . import ranking as ranking
from . import recommend as recommend
from . import report as report
from . import selection as selection
from . import sequence as sequence
from . import solvers as solvers
from . import svm as svm
from . import text as text
from . import theory as theory
from . import topics as topics
from . import trees as trees
from ._warm import warm_up as warm_up
from .core.callbacks import Checkpoint as Checkpoint
from .core.callbacks import StopRequest as StopRequest
from .core.callbacks import TimeBudget as TimeBudget
from .core.callbacks import TraceLog as TraceLog
from .core.progress import progress as progress
from .core.saving import load as load
from .core.saving import save as save
from .core.threads import threads as threads

__version__: str

def _subpackages() -> list[str]: ...
