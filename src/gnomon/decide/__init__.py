"""Decisions: planning in known worlds, learning in unknown ones, bandits, and acting on what noisy sensors say."""

from gnomon._lazy import attach

_WHERE = {
    "process": ["MDP"],
    "grids": ["GridWorld"],
    "policies": ["Policy"],
    "sweeps": ["ValueIteration"],
    "improvement": ["PolicyIteration"],
    "programs": ["FiniteHorizon", "LinearProgram", "solve"],
    "behavior": ["EpsilonGreedy", "SoftmaxBehavior"],
    "temporal": ["QLearning", "Sarsa"],
    "counted": ["EmpiricalModel"],
    "modeled": ["ModelBased"],
    "optimism": ["OptimisticPlanning"],
    "posterior": ["PosteriorSampling"],
    "arms": ["Bandit"],
    "arm_rules": ["Exp3", "GradientBandit", "LinearBandit", "ThompsonBandit", "UCB1"],
    "hidden": ["ActionHMM"],
    "deep_q": ["DQN"],
    "gradients": ["PolicyGradient"],
    "proximal": ["PPO"],
    "comparison": ["compare_agents"],
    "averages": ["RunningMean"],
}

__getattr__, __dir__, __all__ = attach(
    __name__, {name: file for file, names in _WHERE.items() for name in names}
)
