"""Latent Dirichlet allocation: documents as mixtures of topics, by four ways of inference."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.promises import Promises
from gnomon.core.randomness import draw_seed, generator
from gnomon.core.steps import Learner, Report
from gnomon.core.sums import total, total_weight
from gnomon.core.trace import Trace
from gnomon.core.validate import COUNT, NOT_NEGATIVE, POSITIVE, Reads
from gnomon.topics import _inference as inference
from gnomon.topics._starts import first_topics, word_totals
from gnomon.topics._steps import STEPS, LDAState, LDAWork, online_step
from gnomon.topics.queries import VARIATIONAL, TopicQueries

NOT_PROMISED = {
    "online": Promises(
        order="no: documents are visited as they come",
        weights="no: a batch is a number of rows, whatever their weights",
        places="no: batches end where the parts of a table end",
    ),
    "batch": Promises(
        places="statistical: documents in memory go on from their last mixture, those elsewhere begin anew"
    ),
    "gibbs": Promises(
        order="statistical: topics are drawn for tokens as they come", weights="no: takes none; repeat rows"
    ),
}  # by learning_method; the others keep every promise


def _is_variational(model: Any) -> bool:
    """Tell whether a model can learn batch by batch."""
    return model.learning_method in VARIATIONAL


class LatentDirichletAllocation(TopicQueries, Learner):
    r"""Latent Dirichlet allocation (Blei, Ng and Jordan 2003).

    .. math:: \beta_k \sim \mathrm{Dir}(\eta), \quad \theta_d \sim \mathrm{Dir}(\alpha), \quad
        z_n \sim \mathrm{Cat}(\theta_d), \quad w_n \sim \mathrm{Cat}(\beta_{z_n})

    Every document is a mixture θ of topics, every topic a distribution β over words; equivalently the counts of a
    document are multinomial with probabilities θB, for the topic z of a token sums out of the marginal. X is a
    documents × words table of counts, sparse or dense.

    ``learning_method`` chooses the inference: "batch" and "online" variational Bayes (as in scikit-learn, faster),
    "gibbs" (collapsed sampling: usually the best topics), "em" (most probable point; needs priors of at least 1). All
    answer the same questions, and `perplexity` measures all of them by one rule: half of each unseen document predicts
    the other half.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics K.
    doc_topic_prior : float or array of shape (K,), optional
        α; 1/K when not given (1 for "em"). "em" adds α − 1 to counts, the others α.
    topic_word_prior : float or array of shape (V,), optional
        η; 1/K when not given (1 for "em").
    learning_method : {"batch", "online", "gibbs", "em"}, default="batch"
    learning_decay, learning_offset : float
        κ and τ of the step ρ_t = (τ + t)^(−κ) of "online".
    max_iter : int, default=10
        Passes over the documents of "batch", "online" and "em".
    batch_size : int, default=128
        Documents a step of "online".
    evaluate_every, perp_tol
        Every so many passes, look at exp(−bound per word), a column "perplexity" of `trace_`, and stop where it moved
        by less than perp_tol since the last time; never for values below 1, nor with "gibbs".
    total_samples : float, default=1e6
        Documents in all, for `partial_fit`.
    mean_change_tol, max_doc_update_iter
        End of the loop over one document: mean change of γ, and rounds at most.
    n_jobs, verbose
        Threads, and kept for scikit-learn. The number of threads changes no bit.
    random_state : int, RandomState, Generator or None
    n_burn, n_samples, thin : int
        Gibbs: sweeps before the first state is kept, states kept, sweeps between them.
    n_chunks : int or "auto"
        Gibbs: blocks of documents that sweep side by side with counts merged after each sweep. They are set by the data
        alone; 1 is the exact sampler.
    optimize_priors : bool, default=False
        Learn α (one number a topic) and η (one number) along the way.

    Attributes
    ----------
    components_ : array of shape (K, V)
        Pseudo-counts λ (em: the probabilities; gibbs: mean counts plus η).
    topic_word_ : array of shape (K, V)
        P(word | topic); rows sum to one.
    doc_topic_prior_, topic_word_prior_ : arrays of shape (K,), (V,)
    bound_ : float
        The last objective: evidence lower bound, log joint of Gibbs, or penalized log-likelihood.
    n_batch_iter_ : int
        Updates of "online".
    trace_ : Trace
        The objective in every pass (gibbs: every tenth sweep).

    Notes
    -----
    Rows in another order give the same model with "batch" and "em". "online" visits documents as they come, and "gibbs"
    draws for tokens as they come.

    Examples
    --------
    >>> X = np.array([[4, 2, 0, 0], [0, 0, 3, 1], [5, 1, 0, 0], [0, 0, 2, 4]])
    >>> model = LatentDirichletAllocation(2, random_state=0, max_iter=50).fit(X)
    >>> np.sort(model.transform(X)[0].round(2))
    array([0.07, 0.93])
    """

    _sense: ClassVar[str] = "max"
    _stop: ClassVar[str] = "self"
    _unit: ClassVar[str] = "sweep"

    @property
    def _reads(self) -> Reads:  # type: ignore[override]
        """Variational passes are sums over documents; the others keep every document."""
        return Reads(sparse=True, positive=True, scales=self.learning_method in VARIATIONAL)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [COUNT],
        "doc_topic_prior": [None, POSITIVE, "array-like"],
        "topic_word_prior": [None, POSITIVE, "array-like"],
        "learning_method": [StrOptions({"batch", "online", "gibbs", "em"})],
        "learning_decay": [Interval(Real, 0, 1, closed="both")],
        "learning_offset": [Interval(Real, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [COUNT],
        "evaluate_every": [Integral],
        "total_samples": [POSITIVE],
        "perp_tol": [NOT_NEGATIVE],
        "mean_change_tol": [NOT_NEGATIVE],
        "max_doc_update_iter": [COUNT],
        "n_jobs": [None, Integral],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
        "n_burn": [Interval(Integral, 0, None, closed="left")],
        "n_samples": [COUNT],
        "thin": [COUNT],
        "n_chunks": [COUNT, StrOptions({"auto"})],
        "optimize_priors": ["boolean"],
    }

    def __init__(
        self,
        n_components: int = 10,
        *,
        doc_topic_prior: Any = None,
        topic_word_prior: Any = None,
        learning_method: str = "batch",
        learning_decay: float = 0.7,
        learning_offset: float = 10.0,
        max_iter: int = 10,
        batch_size: int = 128,
        evaluate_every: int = -1,
        total_samples: float = 1e6,
        perp_tol: float = 0.1,
        mean_change_tol: float = 1e-3,
        max_doc_update_iter: int = 100,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
        n_burn: int = 100,
        n_samples: int = 20,
        thin: int = 5,
        n_chunks: Any = "auto",
        optimize_priors: bool = False,
    ) -> None:
        self.n_components = n_components
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.learning_method = learning_method
        self.learning_decay = learning_decay
        self.learning_offset = learning_offset
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.evaluate_every = evaluate_every
        self.total_samples = total_samples
        self.perp_tol = perp_tol
        self.mean_change_tol = mean_change_tol
        self.max_doc_update_iter = max_doc_update_iter
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state
        self.n_burn = n_burn
        self.n_samples = n_samples
        self.thin = thin
        self.n_chunks = n_chunks
        self.optimize_priors = optimize_priors

    @property
    def _promises(self) -> Promises:  # type: ignore[override]
        """What is promised depends on the way of inference."""
        return NOT_PROMISED.get(self.learning_method, Promises())

    @property
    def _monotone(self) -> bool:  # type: ignore[override]
        """Batches and draws may lower the objective on the way; passes over everything never do."""
        return self.learning_method not in ("online", "gibbs")

    # the hooks

    def _limit(self) -> int:
        if self.learning_method == "gibbs":
            return int(self.n_burn + self.n_samples * self.thin)
        return int(self.max_iter)

    def _prepare(self, rows: Any) -> LDAWork:
        n = total_weight(rows)
        if not rows.in_memory:
            if self.learning_method not in VARIATIONAL:
                raise DataError(
                    f"learning_method={self.learning_method!r} keeps every document and needs X in memory; use "
                    "'batch' or 'online'."
                )
            return LDAWork(rows, None, None, n, self._words_to_judge(rows))
        weight = rows.weight if rows.weighted else None
        if self.learning_method == "gibbs" and weight is not None:
            raise DataError("learning_method='gibbs' takes no sample_weight; repeat the rows of X instead.")
        corpus = inference.corpus_of(rows.X, weight)
        if not np.isfinite(corpus.data.sum()):
            raise DataError("X has counts so large that their sum overflows.")
        tokens = None
        if self.learning_method == "gibbs":
            if (corpus.data != np.round(corpus.data)).any() or corpus.data.sum() > 2**31:
                raise DataError(
                    "learning_method='gibbs' needs whole counts in X, at most 2³¹ in all; use 'batch'."
                )
            tokens = inference.tokens_of(corpus, self.n_chunks)
        return LDAWork(rows, corpus, tokens, n, self._words_to_judge(rows))

    def _words_to_judge(self, rows: Any) -> float:
        """The words that a perplexity is an average of; 0 where none is asked for, or for draws."""
        if self.evaluate_every <= 0 or self.learning_method == "gibbs":
            return 0.0
        return float(np.sum(total(word_totals, rows)))

    def _start(self, work: LDAWork, rng: np.random.Generator) -> LDAState:
        V, K = work.rows.n_features, int(self.n_components)
        alpha = self._prior(self.doc_topic_prior, K, "doc_topic_prior", K)
        eta = self._prior(self.topic_word_prior, V, "topic_word_prior", K)
        seed = draw_seed(rng)
        documents, chain = np.zeros((0, K)), None
        if self.learning_method == "gibbs":
            chain = inference.first_chain(work.tokens, V, K, seed)
            topics = np.zeros((K, V))
        else:
            topics = first_topics(work.rows, K, rng)
        if self.learning_method == "em":
            topics = topics / topics.sum(axis=1, keepdims=True)
            documents = np.full((work.corpus.shape[0], K), 1.0 / K)
        return LDAState(topics, documents, alpha, eta, -np.inf, 0, chain, 0, seed, np.zeros((0, V)))

    def _prior(self, given: Any, size: int, name: str, K: int) -> Array:
        default = 1.0 if self.learning_method == "em" else 1.0 / K
        values = np.asarray(default if given is None else given, dtype=np.float64)
        if values.ndim > 1 or (values.ndim == 1 and values.shape != (size,)):
            raise DataError(f"{name} must be a number or hold {size} of them; its shape is {values.shape}.")
        if not (values > 0).all() or not np.isfinite(values).all():
            raise DataError(f"{name} must be positive; got {given!r}.")
        if self.learning_method == "em" and (values < 1).any():
            raise DataError(
                f"{name} must be at least 1 with learning_method='em': below 1 the most probable point lies on the "
                "border. Use 'batch' or 'gibbs'."
            )
        return np.array(np.broadcast_to(values, (size,)))

    def _step(self, work: LDAWork, state: LDAState) -> tuple[LDAState, Report]:
        fresh, value = STEPS[self.learning_method](self, work, state)
        if not work.n_words > 0 or fresh.step % self.evaluate_every:
            return fresh, Report(value)
        with np.errstate(over="ignore"):
            perplexity = float(np.exp(-fresh.value / work.n_words))
        done = abs(state.evaluated - perplexity) < self.perp_tol
        return fresh._replace(evaluated=perplexity), Report(value, done=done, info={"perplexity": perplexity})

    def _attributes(self, state: LDAState) -> dict[str, Any]:
        topics, probabilities, updates = state.topics, None, state.step
        if self.learning_method == "gibbs":
            if state.saved:
                topics, probabilities = topics / state.saved, state.probabilities / state.saved
            else:
                topics = state.chain.by_word.T + state.eta
        elif self.learning_method == "online":
            updates = state.saved
        if probabilities is None:
            probabilities = topics / topics.sum(axis=1, keepdims=True)
        return {
            "components_": topics,
            "topic_word_": probabilities,
            "doc_topic_prior_": state.alpha,
            "topic_word_prior_": state.eta,
            "bound_": float(state.value),
            "n_batch_iter_": int(updates),
            "seed_": int(state.seed % 2**63),
            "exp_dirichlet_component_": inference.topic_weights(topics).T
            if self.learning_method in VARIATIONAL
            else probabilities,
        }

    # learning on

    @available_if(_is_variational)
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from one more batch of documents, by steps of "online".

        Parameters
        ----------
        X : array or sparse matrix of counts
            The batch; `total_samples` says how many documents there are in all.
        y : ignored
            Present for scikit-learn's conventions.

        Returns
        -------
        self
            The fitted model.
        """
        first = not hasattr(self, "components_")
        rows = self._read(X, reset=first)
        work = LDAWork(rows, inference.corpus_of(rows.X), None, float(self.total_samples))
        if first:
            state = self._start(work, generator(self.random_state))
        else:
            state = LDAState(
                self.components_,
                np.zeros((0, len(self.components_))),
                self.doc_topic_prior_,
                self.topic_word_prior_,
                self.bound_,
                self.n_iter_,
                None,
                self.n_batch_iter_,
                self.seed_,
                np.zeros((0, self.components_.shape[1])),
            )
        fresh, value = online_step(self, work, state)
        names = {"feature_names_in_": self.feature_names_in_} if hasattr(self, "feature_names_in_") else {}
        facts = {"trace_": Trace([value], [0.0]), "n_iter_": max(1, fresh.step), "converged_": False}
        learned = {**self._attributes(fresh), "n_batch_iter_": int(fresh.saved)}
        self._adopt({**names, **facts, **learned}, rows)
        return self
