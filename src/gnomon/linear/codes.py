"""Error-correcting output codes: several classes by several binary questions."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags

from gnomon.core.errors import DataError, nearest
from gnomon.core.estimator import Estimator
from gnomon.core.linalg import Array
from gnomon.core.parameters import HasMethods, StrOptions
from gnomon.core.randomness import generator
from gnomon.core.validate import POSITIVE, Reads, warn
from gnomon.linear._rows import check_classes
from gnomon.linear._rules import JOBS, SEED

CODES = ("random", "exhaustive", "one_vs_rest", "one_vs_one")
DECODINGS = ("hamming", "loss", "euclidean")


def code_matrix(
    K: int, code: Any = "exhaustive", *, code_size: float = 1.5, random_state: Any = None
) -> Array:
    """Return a code of K rows with entries −1, 0 (do not care) and +1.

    The exhaustive code has 2^{K−1} − 1 columns and corrects ⌊(2^{K−2} − 1)/2⌋ wrong answers.

    >>> code_matrix(3)
    array([[ 1.,  1.,  1.],
           [-1., -1.,  1.],
           [-1.,  1., -1.]])
    """
    if not isinstance(code, str):
        return np.asarray(code, dtype=float)
    if code == "exhaustive":
        if not 3 <= K <= 11:
            raise DataError(f"the exhaustive code is for 3 to 11 classes; there are {K}. Use code='random'.")
        bits = np.arange(2 ** (K - 1) - 1)
        rows = [np.ones(len(bits))] + [np.where((bits >> (K - 1 - k)) & 1, 1.0, -1.0) for k in range(1, K)]
        return np.array(rows)
    if code == "one_vs_rest":
        return 2.0 * np.eye(K) - 1.0
    if code == "one_vs_one":
        pairs = [(i, j) for i in range(K) for j in range(i + 1, K)]
        M = np.zeros((K, len(pairs)))
        for column, (i, j) in enumerate(pairs):
            M[i, column], M[j, column] = 1.0, -1.0
        return M
    if code != "random":
        raise ValueError(f"code must be one of {CODES} or an array; got {code!r}.{nearest(code, CODES)}")
    width, rng = max(1, int(code_size * K)), generator(random_state)
    for _ in range(1000):
        M = np.where(rng.random((K, width)) > 0.5, 1.0, -1.0)
        while K > 1 and len(same := np.flatnonzero((M == M[0]).all(axis=0))):  # columns that ask nothing
            M[:, same] = np.where(rng.random((K, len(same))) > 0.5, 1.0, -1.0)
        if len(np.unique(M, axis=0)) == K:
            return M
    raise DataError(f"no random code of {width} columns tells {K} classes apart; raise code_size.")


def decode(M: Array, scores: Array, decoding: str = "hamming", loss: Any = None) -> Array:
    """Return the distance of every row of scores to every code word (n, K): Hamming, summed loss or
    Euclidean.

    >>> decode(np.array([[1.0, 1], [-1, 1]]), np.array([[0.3, 2.0]]))
    array([[0., 1.]])
    """
    scores = np.atleast_2d(scores)
    if decoding == "hamming":
        signs = np.where(scores > 0, 1.0, -1.0)
        return 0.5 * np.sum(np.abs(M)[None] * (1.0 - M[None] * signs[:, None]), axis=2) + 0.5 * np.sum(
            M == 0, axis=1
        )
    if decoding == "euclidean":
        return np.sqrt(np.sum((M[None] - scores[:, None]) ** 2, axis=2))
    if decoding != "loss":
        raise ValueError(
            f"decoding must be one of {DECODINGS}; got {decoding!r}.{nearest(decoding, DECODINGS)}"
        )
    if loss is None:
        from gnomon.losses import Hinge

        loss = Hinge()
    return np.sum(loss.on_margin(M[None] * scores[:, None]), axis=2)


def own_loss(estimator: Any) -> Any:
    """Return the loss of the margin that a binary classifier minimizes; the hinge where it names none.

    >>> from gnomon.linear import LogisticRegression
    >>> type(own_loss(LogisticRegression())).__name__
    'Logistic'
    """
    from gnomon import losses

    named = {"hinge": losses.Hinge, "squared_hinge": losses.SquaredHinge, "log_loss": losses.Logistic}
    kind = type(estimator).__name__
    usual = "log_loss" if kind.startswith("Logistic") else "hinge"
    loss = getattr(estimator, "loss", usual)
    return named.get(loss, losses.Hinge)() if isinstance(loss, str) else losses.Hinge()


class OutputCodeClassifier(MetaEstimatorMixin, ClassifierMixin, Estimator):
    r"""Several classes by the answers to binary questions, read like a damaged code word.

    .. math:: \hat y = \arg\min_k \sum_l \ell(M_{kl}\,f_l(x))

    Parameters
    ----------
    estimator : binary classifier
        With `decision_function` or `predict_proba`.
    code_size : float, default=1.5
        Columns of a random code, per class, rounded down; each has both answers.
    random_state : int, optional
    n_jobs : int, optional
        Accepted for compatibility.
    code : {"random", "exhaustive", "one_vs_rest", "one_vs_one"} or array, default="random"
        Entries −1, 0 and +1, a row a class.
    decoding : {"hamming", "loss", "euclidean"}, default="hamming"

    Attributes
    ----------
    classes_, code_book_, estimators_

    Examples
    --------
    >>> from gnomon.linear import LogisticRegression
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OutputCodeClassifier(LogisticRegression(), code="exhaustive", decoding="loss").fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "decision_function"]), HasMethods(["fit", "predict_proba"])],
        "code_size": [POSITIVE],
        "random_state": SEED,
        "n_jobs": JOBS,
        "code": [StrOptions(set(CODES)), "array-like"],
        "decoding": [StrOptions(set(DECODINGS))],
    }

    def __init__(
        self, estimator, *, code_size=1.5, random_state=None, n_jobs=None, code="random", decoding="hamming"
    ):
        self.estimator = estimator
        self.code_size = code_size
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.code = code
        self.decoding = decoding

    @property
    def _reads(self):
        """Sparse rows are taken when the estimator takes them."""
        with suppress(Exception):  # whatever is not an estimator is refused by `fit`
            return Reads(sparse=get_tags(self.estimator).input_tags.sparse, y="class")
        return Reads(y="class")

    def fit(self, X, y):
        """Fit one classifier a column of the code."""
        rows = self._read(X, y)
        check_classes(rows, type(self).__name__)
        K = len(rows.classes)
        M = code_matrix(K, self.code, code_size=self.code_size, random_state=self.random_state)
        if M.ndim != 2 or len(M) != K or len(np.unique(M, axis=0)) != K:
            raise DataError("code needs one row a class, no two alike.")
        answers = [self._question(rows.X, column[rows.y]) for column in M.T]
        self._adopt({"code_book_": M, "estimators_": answers}, rows)
        return self

    def _question(self, X, t):
        used = t != 0
        if len(np.unique(t[used])) < 2:
            warn("a column of the code has a single class among the rows; its answer is constant.")
            return float(t[used][0]) if used.any() else 0.0
        return clone(self.estimator).fit(X[used], (t[used] > 0).astype(int))

    def decision_function(self, X) -> Array:
        """Return minus the distance to every code word; for two classes, how much nearer the second is."""
        X = self._rows(X).X
        scores = np.column_stack([_answer(one, X) for one in self.estimators_])
        nearness = -decode(self.code_book_, scores, self.decoding, own_loss(self.estimator))
        return nearness[:, 1] - nearness[:, 0] if len(self.classes_) == 2 else nearness

    def predict(self, X) -> Array:
        """Return the class of the nearest code word; ties go to the lowest class."""
        scores = self.decision_function(X)
        return self.classes_[scores.argmax(axis=1) if scores.ndim > 1 else (scores > 0).astype(int)]


def _answer(one, X):
    if isinstance(one, float):
        return np.full(X.shape[0], one)
    if hasattr(one, "decision_function"):
        return one.decision_function(X)
    return 2.0 * one.predict_proba(X)[:, 1] - 1.0
