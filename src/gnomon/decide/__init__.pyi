# Written by scripts/stubs from the package's `attach` call; do not edit.
from .arm_rules import Exp3 as Exp3
from .arm_rules import GradientBandit as GradientBandit
from .arm_rules import LinearBandit as LinearBandit
from .arm_rules import ThompsonBandit as ThompsonBandit
from .arm_rules import UCB1 as UCB1
from .arms import Bandit as Bandit
from .averages import RunningMean as RunningMean
from .behavior import EpsilonGreedy as EpsilonGreedy
from .behavior import SoftmaxBehavior as SoftmaxBehavior
from .comparison import compare_agents as compare_agents
from .counted import EmpiricalModel as EmpiricalModel
from .deep_q import DQN as DQN
from .gradients import PolicyGradient as PolicyGradient
from .grids import GridWorld as GridWorld
from .hidden import ActionHMM as ActionHMM
from .improvement import PolicyIteration as PolicyIteration
from .modeled import ModelBased as ModelBased
from .optimism import OptimisticPlanning as OptimisticPlanning
from .policies import Policy as Policy
from .posterior import PosteriorSampling as PosteriorSampling
from .process import MDP as MDP
from .programs import FiniteHorizon as FiniteHorizon
from .programs import LinearProgram as LinearProgram
from .programs import solve as solve
from .proximal import PPO as PPO
from .sweeps import ValueIteration as ValueIteration
from .temporal import QLearning as QLearning
from .temporal import Sarsa as Sarsa

__all__ = ["ActionHMM", "Bandit", "DQN", "EmpiricalModel", "EpsilonGreedy", "Exp3", "FiniteHorizon", "GradientBandit", "GridWorld", "LinearBandit", "LinearProgram", "MDP", "ModelBased", "OptimisticPlanning", "PPO", "Policy", "PolicyGradient", "PolicyIteration", "PosteriorSampling", "QLearning", "RunningMean", "Sarsa", "SoftmaxBehavior", "ThompsonBandit", "UCB1", "ValueIteration", "compare_agents", "solve"]
