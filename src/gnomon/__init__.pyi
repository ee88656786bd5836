# Written by scripts/stubs from the package's `attach` call; do not edit.
from . import core as core
from . import datasets as datasets
from . import loops as loops
from . import losses as losses
from . import plot as plot
from .core.callbacks import Checkpoint as Checkpoint
from .core.callbacks import TimeBudget as TimeBudget
from .core.saving import load as load
from .core.saving import save as save
from .core.threads import threads as threads
from .loops._compile import warm_up as warm_up

__version__: str
