"""Cost-complexity and reduced-error pruning of grown trees."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import Bunch

from gnomon.trees.nodes import Tree, select

Array = np.ndarray


class _Links:
    """Weakest links of a tree while it shrinks."""

    def __init__(self, tree: Tree) -> None:
        share = tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
        self.own = share * tree.impurity  # R(t)
        self.inner = tree.feature >= 0
        self.below, self.leaves = self.own.copy(), np.ones(tree.node_count)
        self.tie = 1e-12 * max(1.0, float(self.own[0]))
        self.kids = {int(t): tree.children(t) for t in np.flatnonzero(self.inner)}
        self.order = sorted(self.kids, reverse=True)  # children before parents
        for node in self.order:
            self._refresh(node)

    def _refresh(self, node: int) -> None:
        children = self.kids[node]
        self.below[node] = self.below[children].sum()
        self.leaves[node] = self.leaves[children].sum()

    def alphas(self) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            alpha = (self.own - self.below) / (self.leaves - 1)
        return np.where(self.inner, alpha, np.inf)

    def collapse(self, limit: float) -> None:
        """Cut from the bottom up wherever a leaf costs no more than the best subtree below it."""
        for node in self.order:
            if self.inner[node]:
                self._refresh(node)
                if self.own[node] <= self.below[node] + limit * (self.leaves[node] - 1) + self.tie:
                    self.inner[node] = False
                    self.below[node], self.leaves[node] = self.own[node], 1.0
        for node in reversed(self.order):  # what hangs below a leaf is gone
            if not self.inner[node]:
                self.inner[self.kids[node]] = False


def prune_tree(tree: Tree, alpha: float) -> Tree:
    """Return the smallest subtree that minimizes R(T) + alpha |T|."""
    links = _Links(tree)
    links.collapse(alpha)
    return select(tree, links.inner)


def pruning_path(tree: Tree) -> Bunch:
    """Return alphas, total impurities and numbers of leaves of the nested sequence."""
    links = _Links(tree)
    links.collapse(0.0)
    steps = [(0.0, links.below[0], links.leaves[0])]
    while links.inner[0]:
        alpha = float(links.alphas().min())
        links.collapse(alpha)
        steps.append((alpha, links.below[0], links.leaves[0]))
    alphas, impurities, leaves = map(np.array, zip(*steps))
    return Bunch(ccp_alphas=alphas, impurities=impurities, n_leaves=leaves.astype(np.int64))


def _with_tree(model: Any, tree: Tree) -> Any:
    pruned = clone(model)
    pruned.__dict__.update({name: value for name, value in vars(model).items() if name.endswith("_")})
    pruned.tree_ = tree
    return pruned


def prune(model: Any, alpha: float) -> Any:
    r"""Return a copy of a fitted tree, cut back to the smallest subtree that minimizes the cost.

    .. math:: R(T) + \alpha |T|, \qquad R(T) = \sum_{\text{leaves}} \frac{W_t}{W} u(t)

    Examples
    --------
    >>> from gnomon.trees import DecisionTreeClassifier
    >>> X, y = np.arange(1.0, 9.0)[:, None], [0, 0, 1, 0, 1, 1, 0, 1]
    >>> full = DecisionTreeClassifier().fit(X, y)
    >>> full.get_n_leaves(), prune(full, 1 / 12).get_n_leaves(), prune(full, 1 / 6).get_n_leaves()
    (6, 2, 1)
    """
    return _with_tree(model, prune_tree(model.tree_, alpha))


def prune_cv(
    model: Any, X: Any, y: Any, *, cv: Any = 5, rule: str = "min", scoring: Any = None
) -> tuple[Any, Bunch]:
    """Choose alpha by cross-validation and return the pruned tree with the table behind the choice.

    Trees are grown on every fold and pruned at the geometric means of consecutive alphas of the full tree.
    ``rule="1se"`` takes the largest alpha whose score is within one standard error of the best.

    Examples
    --------
    >>> from gnomon.trees import DecisionTreeClassifier
    >>> X = np.arange(40.0)[:, None]
    >>> y = (X[:, 0] > 19).astype(int)
    >>> y[[3, 30]] = 1 - y[[3, 30]]
    >>> pruned, table = prune_cv(DecisionTreeClassifier(), X, y, cv=5)
    >>> pruned.get_n_leaves()
    2
    """
    from sklearn.metrics import check_scoring  # slow to import, and needed here alone
    from sklearn.model_selection import check_cv

    if rule not in ("min", "1se"):
        raise ValueError(f"rule must be 'min' or '1se'; got {rule!r}.")
    X, y = np.asarray(X), np.asarray(y)
    whole = clone(model).set_params(ccp_alpha=0.0).fit(X, y)
    path = pruning_path(whole.tree_)
    alphas = np.sqrt(path.ccp_alphas * np.append(path.ccp_alphas[1:], np.inf))
    alphas[-1] = path.ccp_alphas[-1] * 2
    score = check_scoring(model, scoring)
    folds = check_cv(cv, y, classifier=is_classifier(model))
    scores = np.array([_fold_scores(model, X, y, *fold, alphas, score) for fold in folds.split(X, y)])
    mean, error = scores.mean(axis=0), scores.std(axis=0, ddof=1) / np.sqrt(len(scores))
    best = int(np.flatnonzero(mean >= mean.max() - 1e-12)[-1])
    if rule == "1se":
        best = int(np.flatnonzero(mean >= mean[best] - error[best])[-1])
    table = Bunch(ccp_alphas=path.ccp_alphas, n_leaves=path.n_leaves, scores=scores, mean=mean, error=error)
    return prune(whole, path.ccp_alphas[best]), table


def _fold_scores(
    model: Any, X: Array, y: Array, train: Array, test: Array, alphas: Array, score: Any
) -> list[float]:
    grown = clone(model).set_params(ccp_alpha=0.0).fit(X[train], y[train])
    return [score(prune(grown, alpha), X[test], y[test]) for alpha in alphas]


def prune_reduced_error(model: Any, X_val: Any, y_val: Any) -> Any:
    """Return a copy in which every subtree that does not help on validation rows is a leaf (ties prune).

    Examples
    --------
    >>> from gnomon.trees import DecisionTreeClassifier
    >>> X, y = np.arange(1.0, 9.0)[:, None], [0, 0, 1, 0, 1, 1, 0, 1]
    >>> full = DecisionTreeClassifier().fit(X, y)
    >>> prune_reduced_error(full, [[1.0], [2.0], [7.0], [8.0]], [0, 0, 1, 1]).get_n_leaves()
    2
    """
    tree, y_val = model.tree_, np.asarray(y_val)
    path = model.decision_path(X_val).tocsc()
    cost = np.array(
        [_leaf_cost(model, node, y_val[path.indices[path.indptr[node] : path.indptr[node + 1]]])
         for node in range(tree.node_count)]
    )  # fmt: skip
    inner = tree.feature >= 0
    best = cost.copy()
    for node in np.flatnonzero(inner)[::-1]:
        below = best[tree.children(node)].sum()
        inner[node] = below < cost[node] - 1e-12
        best[node] = min(below, cost[node])
    return _with_tree(model, select(tree, inner))


def _leaf_cost(model: Any, node: int, y: Array) -> float:
    value = model.tree_.value[node]
    if is_classifier(model):
        classes = model.classes_ if isinstance(model.classes_, list) else [model.classes_]
        said = [names[shares.argmax()] for names, shares in zip(classes, value, strict=True)]
        return float(np.count_nonzero(y != np.array(said)))
    return float(((y - value[:, 0]) ** 2).sum())
