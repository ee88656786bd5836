"""What a network with tables can be asked: probabilities, explanations, samples."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError, nearest
from gnomon.core.frames import import_pandas
from gnomon.core.linalg import Array
from gnomon.core.randomness import generator
from gnomon.core.settings import count_of
from gnomon.graphical import dags, sampling, separation
from gnomon.graphical.elimination import product
from gnomon.graphical.factor import MAX_ENTRIES, Factor, TableTooLargeError, contract, guard
from gnomon.graphical.inference import enumerate_query, inference_plan, marginal_map
from gnomon.graphical.junction import plan_tree
from gnomon.graphical.junction_tree import JunctionTree
from gnomon.graphical.net import Net, listed

EXACT = ("auto", "enumeration", "elimination", "junction_tree", "polytree")
SAMPLED = ("likelihood_weighting", "gibbs", "rejection")
KEPT_TREE = 4_000_000  # entries up to which a junction tree is built once and kept with the network


class Explanation(NamedTuple):
    """The most probable joint state."""

    states: dict[str, Any]
    log_probability: float  # ln P(states, evidence)
    log_posterior: float  # ln P(states | evidence)
    gap: float  # by how much ln P of the next best state is smaller; 0 where there are several best


def tree_of(net: Net, max_entries: int = MAX_ENTRIES) -> JunctionTree:
    """Return a network's junction tree; a small one is kept."""
    tree = net.trees.get("min_fill")
    if tree is None:
        tree = JunctionTree(net, max_entries=max_entries)
        if tree.total_entries_ <= KEPT_TREE:
            net.trees["min_fill"] = tree
    elif tree.total_entries_ > max_entries:
        guard([tree.total_entries_], max_entries, "the junction tree")
    return tree


def tree_entries(net: Net) -> int:
    """Return the size of a network's junction tree without building it."""
    if "min_fill" in net.trees:
        return int(net.trees["min_fill"].total_entries_)
    if "entries" not in net.trees:
        net.trees["entries"] = plan_tree(dags.moral(net.parents), net.cards, "min_fill").total()
    return int(net.trees["entries"])


class Answers:
    """The questions of a discrete network; mixed into `BayesianNetwork`."""

    def _network(self) -> Net:
        raise NotImplementedError

    # exact

    def query(
        self,
        variables: Any,
        evidence: Mapping[str, Any] | None = None,
        *,
        soft_evidence: Mapping[str, Any] | None = None,
        do: Mapping[str, Any] | None = None,
        method: str = "auto",
        order: Any = "min_fill",
        n_samples: int = 10_000,
        random_state: Any = None,
        max_entries: int = MAX_ENTRIES,
    ) -> Factor:
        """Return P(variables | evidence).

        Parameters
        ----------
        variables : str or list of str
            What is asked for; the answer's axes are in this order.
        evidence : dict, optional
            Observed states by name of the variable; None and NaN mean not observed.
        soft_evidence : dict, optional
            A likelihood for every state by name of the variable: the reading of an imperfect instrument.
        do : dict, optional
            States that are set from outside: edges into these variables are cut first, see `do`.
        method : {"auto", "elimination", "junction_tree", "polytree", "enumeration", "likelihood_weighting", \
"gibbs", "rejection"}, default="auto"
            The last three are approximate: the answer then has `standard_error` and `effective_size`.
        order : str or list, default="min_fill"
            Of elimination; see `inference_plan`.
        n_samples, random_state
            Of the approximate methods.
        max_entries : int
            The largest table to make. Beyond it `TableTooLargeError` names the alternatives.

        Returns
        -------
        Factor
            Normalized; its `log_evidence` is ln P(evidence). Evidence of probability zero raises
            `ImpossibleEvidenceError` with the part that contradicts itself.
        """
        model = self if not do else self.do(do)  # type: ignore[attr-defined]
        net = model._network()
        wanted = listed(variables)
        if method in SAMPLED:
            return _sampled_query(net, wanted, evidence, soft_evidence, method, n_samples, random_state)
        if method not in EXACT:
            options = [*EXACT, *SAMPLED]
            raise DataError(f"method must be one of {options}; got {method!r}.{nearest(method, options)}")
        guard([net.cards[v] for v in net.numbers(wanted)], max_entries, "the answer")
        if method == "enumeration":
            return enumerate_query(net, wanted, evidence, soft_evidence)
        if method == "junction_tree" or (method == "auto" and _suits_tree(net, wanted, evidence, order)):
            tree = tree_of(net, max_entries) if order == "min_fill" else JunctionTree(net, order)
            _not_observed(net, wanted, evidence)
            return tree.calibrate(evidence, soft_evidence).joint(wanted)
        order = "polytree" if method == "polytree" else order
        return inference_plan(net, wanted, evidence, soft_evidence=soft_evidence, order=order).run(
            max_entries
        )

    def marginals(
        self,
        evidence: Mapping[str, Any] | None = None,
        *,
        soft_evidence: Mapping[str, Any] | None = None,
        max_entries: int = MAX_ENTRIES,
    ) -> dict[str, Factor]:
        """Return the distribution of every variable given the evidence, by name, from one calibrated tree."""
        return tree_of(self._network(), max_entries).calibrate(evidence, soft_evidence).marginals()

    def mpe(
        self, evidence: Mapping[str, Any] | None = None, *, soft_evidence: Mapping[str, Any] | None = None
    ) -> Explanation:
        """Return the most probable joint state of all variables given the evidence.

        It is not the collection of each variable's own most probable state.
        """
        net = self._network()
        tree = tree_of(net).calibrate(evidence, soft_evidence)
        codes, value, gap = tree._best()
        states = {name: own[code] for name, own, code in zip(net.variables, net.states, codes, strict=True)}
        return Explanation(states, value, value - tree.log_evidence_, gap)

    def marginal_map(
        self,
        variables: Any,
        evidence: Mapping[str, Any] | None = None,
        *,
        soft_evidence: Mapping[str, Any] | None = None,
    ) -> tuple[dict[str, Any], float]:
        """Return the most probable joint state of some variables, the others summed out, and ln P with the evidence."""
        return marginal_map(self._network(), variables, evidence, soft_evidence)

    def joint(self, max_entries: int = 10_000_000) -> Factor:
        """Return the joint table of all variables, for networks of a few."""
        net = self._network()
        guard(net.cards, max_entries, "the joint table")
        return contract(net.factors(), net.variables)

    def is_independent(self, A: Any, B: Any, given: Any = (), *, tol: float = 1e-9) -> bool:
        """Tell whether the numbers make A and B independent given other variables.

        A graph may not show an independence that the numbers have; it never shows one that they have not.

        Parameters
        ----------
        A, B, given : str or list of str
        tol : float, default=1e-9
            Largest difference of a slice of the joint table to the outer product of its margins.

        Examples
        --------
        >>> from gnomon.datasets import load_network
        >>> coins = load_network("coins")
        >>> coins.is_independent("x1", "x2"), coins.is_independent("x1", "x2", "x3")
        (True, False)
        """
        names = list(dict.fromkeys([*listed(given), *listed(A), *listed(B)]))
        return self.query(names).is_independent(A, B, given, tol=tol)

    def explaining_away(
        self, effect: Mapping[str, Any], cause: Mapping[str, Any], other: Mapping[str, Any]
    ) -> separation.ExplainingAway:
        """Return how the probability of a cause changes as its effect and then another cause are seen.

        Parameters
        ----------
        effect, cause, other : dict
            One state each, by name of the variable.

        Returns
        -------
        named tuple
            `prior`, `given_effect`, `given_both` and a sentence, `verdict`.

        Examples
        --------
        >>> from gnomon.datasets import load_network
        >>> story = load_network("alarm_story")
        >>> found = story.explaining_away({"alarm": "yes"}, {"burglary": "yes"}, {"radio": "yes"})
        >>> round(found.given_effect, 4), round(found.given_both, 4)
        (0.5025, 0.01)
        """
        return separation.explaining_away(self, effect, cause, other)

    def probability(self, assignment: Mapping[str, Any]) -> float:
        """Return the probability that the given variables have the given states: of all, or of some of them."""
        net = self._network()
        seen = net.evidence(assignment)
        if len(seen) == len(net):
            codes = np.array([[seen[v] for v in range(len(net))]])
            return float(np.exp(sampling.log_probabilities(net, codes)[0]))
        plan = inference_plan(net, [], assignment)
        left: list[Factor] = []
        for _ in plan._run(left):
            pass
        value = contract([*left, Factor([], 1.0)], [])
        if float(value.table) == 0:
            return 0.0
        try:
            return float(math.exp(math.log(value.table) + value.log_scale + plan._log_aside()))
        except ValueError:  # the evidence is impossible
            return 0.0

    # samples

    def sample(
        self,
        n: int = 1,
        evidence: Mapping[str, Any] | None = None,
        *,
        method: str = "auto",
        random_state: Any = None,
        max_tries: int = 1_000_000,
        burn_in: int = 200,
        thin: int = 1,
        chains: int = 10,
        force: bool = False,
    ) -> Any:
        """Draw rows of states, given evidence where there is some.

        Parameters
        ----------
        n : int
        evidence : dict, optional
        method : {"auto", "ancestral", "exact", "rejection", "gibbs"}
            "auto" is ancestral without evidence, and "exact" (from a calibrated junction tree) with it where the
            tree fits, else Gibbs. For likelihood weighting see `weighted_sample`.
        random_state : int, Generator, optional
        max_tries : int
            Draws that rejection may make.
        burn_in, thin, chains, force
            Of Gibbs sampling: sweeps before the first row, sweeps for every row, chains side by side, and whether to
            run although zeros in tables may cut the space into parts.

        Returns
        -------
        DataFrame
            One column for every variable, categories as states.
        """
        net, rng = self._network(), generator(random_state)
        seen, n = net.evidence(evidence), count_of(n, "n")
        if method == "auto":
            fits = tree_entries(net) <= KEPT_TREE if seen else False
            method = "ancestral" if not seen else "exact" if fits else "gibbs"
        if method == "ancestral":
            if seen:
                raise DataError("method='ancestral' takes no evidence; use 'exact', 'rejection' or 'gibbs'.")
            codes = sampling.ancestral(net, n, rng, {})[0]
        elif method == "exact":
            codes = tree_of(net).calibrate(evidence).sample(n, rng)
        elif method == "rejection":
            codes = sampling.rejection(net, n, rng, seen, max_tries)[0]
        elif method == "gibbs":
            options = dict(burn_in=burn_in, thin=thin, chains=min(chains, max(n, 1)), force=force)
            codes = sampling.gibbs(net, n, rng, seen, **options)
        else:
            options = ["auto", "ancestral", "exact", "rejection", "gibbs"]
            raise DataError(f"method must be one of {options}; got {method!r}.{nearest(method, options)}")
        return to_frame(net, codes)

    def weighted_sample(
        self, n: int, evidence: Mapping[str, Any] | None = None, *, random_state: Any = None
    ) -> tuple[Any, Array]:
        """Draw rows with the evidence held fixed, and their weights ∏ P(evidence | drawn parents)."""
        net, n = self._network(), count_of(n, "n", 1)
        codes, logs = sampling.weighted(net, n, generator(random_state), net.evidence(evidence))
        return to_frame(net, codes), np.exp(logs)


def to_frame(net: Net, codes: Array) -> Any:
    """Return codes as a pandas DataFrame of categories."""
    pd = import_pandas()
    columns = {}
    for v, name in enumerate(net.variables):
        columns[name] = pd.Categorical.from_codes(codes[:, v], categories=list(net.states[v]))
    return pd.DataFrame(columns)


def _not_observed(net: Net, wanted: list[str], evidence: Mapping[str, Any] | None) -> None:
    seen = net.evidence(evidence)
    for name, v in zip(wanted, net.numbers(wanted), strict=True):
        if v in seen:
            raise DataError(
                f"{name!r} is asked for and observed; take it out of the evidence or of the query."
            )
    if len(set(wanted)) < len(wanted):
        raise DataError(f"variables must be different; got {wanted}.")


def _suits_tree(net: Net, wanted: list[str], evidence: Any, order: Any) -> bool:
    """A kept junction tree answers at once; one variable of a network whose tree is small is worth building it."""
    return len(wanted) == 1 and order == "min_fill" and tree_entries(net) <= KEPT_TREE


def _sampled_query(
    net: Net, wanted: list[str], evidence: Any, soft: Any, method: str, n: int, random_state: Any
) -> Factor:
    """An answer from samples: self-normalized weights, with standard errors."""
    rng, seen, targets = generator(random_state), net.evidence(evidence), net.numbers(wanted)
    n = count_of(n, "n_samples", 1)
    _not_observed(net, wanted, evidence)
    likelihoods = net.likelihoods(soft)
    log_evidence: float | None = None
    if method == "likelihood_weighting":
        codes, logs = sampling.weighted(net, n, rng, seen)
    elif method == "rejection":
        codes, rate = sampling.rejection(net, n, rng, seen, max(1_000_000, 100 * n))
        logs, log_evidence = np.zeros(n), math.log(rate)
    else:
        codes = sampling.gibbs(net, n, rng, seen, burn_in=200, thin=1, chains=min(10, n), force=False)
        logs = np.zeros(n)
    with np.errstate(divide="ignore"):
        for v, vector in likelihoods.items():
            logs = logs + np.log(vector)[codes[:, v]]
    top = logs.max()
    if top == -np.inf:
        raise DataError(
            "soft_evidence gives likelihood zero to every sample; draw more or use an exact method."
        )
    weights = np.exp(logs - top)
    if method != "gibbs":
        log_evidence = float((log_evidence or 0.0) + top + np.log(weights.mean()))
    return _weighted_answer(
        net, wanted, targets, codes, weights, log_evidence, chains=10 if method == "gibbs" else 0
    )


def _weighted_answer(
    net: Net,
    wanted: list[str],
    targets: list[int],
    codes: Array,
    weights: Array,
    log_evidence: Any,
    chains: int,
) -> Factor:
    shape = [net.cards[v] for v in targets]
    cell = np.zeros(len(codes), dtype=np.int64)
    for v in targets:
        cell = cell * net.cards[v] + codes[:, v]
    size, total = product(shape), weights.sum()
    share = np.bincount(cell, weights, size) / total
    # Var Σwf/Σw ≈ Σ w²(f − p)² / (Σw)², with f the indicator of a cell
    inside = np.bincount(cell, weights**2, size)
    variance = (inside * (1 - share) ** 2 + ((weights**2).sum() - inside) * share**2) / total**2
    error = np.sqrt(variance)
    if chains:
        error = np.maximum(error, _batch_error(cell, size, share))
    names = tuple(wanted)
    factor = Factor._made(names, share.reshape(shape), {name: net.named_states[name] for name in names})
    factor.standard_error, factor.log_evidence = error.reshape(shape), log_evidence
    factor.effective_size = float(total**2 / (weights**2).sum())
    return factor


def _batch_error(cell: Array, size: int, share: Array) -> Array:
    """Standard errors of dependent draws from the spread of the means of long batches."""
    batches = np.array_split(cell, max(2, int(np.sqrt(len(cell)) // 4)))
    means = np.array([np.bincount(batch, minlength=size) / max(1, len(batch)) for batch in batches])
    return np.sqrt(((means - share) ** 2).sum(axis=0) / (len(batches) * (len(batches) - 1)))


__all__ = ["Answers", "Explanation", "TableTooLargeError"]
