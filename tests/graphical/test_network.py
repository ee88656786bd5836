"""Networks as models of data: reading, learning, sampling, filling in, and what is refused."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

import gnomon.core.rows
from compare import assert_same_bits
from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.threads import threads
from gnomon.datasets import load_network
from gnomon.graphical import BayesianNetwork
from gnomon.graphical.factor import TableTooLargeError
from graphical.randomly import random_network, walk


@pytest.fixture(scope="module")
def asia():
    return load_network("asia")


@pytest.fixture(scope="module")
def patients(asia):
    return asia.sample(3000, random_state=0)


def with_holes(frame, share, seed):
    hide = np.random.default_rng(seed).random(frame.shape) < share
    return frame.astype(object).mask(hide)


# learning


def test_counts_are_relative_frequencies(asia, patients):
    model = BayesianNetwork(asia.edges).fit(patients)
    share = patients.groupby(["bronc", "either"], observed=False).dysp.value_counts(normalize=True)
    for bronc in ("yes", "no"):
        for either in ("yes", "no"):
            code = [model.states_[v].index(s) for v, s in zip(model.parents_["dysp"], (bronc, either))]
            assert model.tables_["dysp"][(*code, 0)] == pytest.approx(
                share[bronc, either, model.states_["dysp"][0]]
            )
    assert model.score(patients) * 3000 == pytest.approx(model.log_likelihood_, rel=1e-12)


def test_maximum_likelihood_is_a_maximum(asia, patients):
    model = BayesianNetwork(asia.edges).fit(patients)
    rng = np.random.default_rng(0)
    best = model.score(patients)
    for _ in range(10):
        tables = {
            v: 0.95 * t + 0.05 * rng.dirichlet(np.ones(t.shape[-1]), size=t.shape[:-1])
            for v, t in model.tables_.items()
        }
        other = BayesianNetwork(asia.edges, states=model.states_, tables=tables)
        assert other.score(patients) < best


@pytest.mark.parametrize("kind", ["pandas", "polars", "strings", "objects", "lists", "codes", "categories"])
def test_all_forms_of_a_table_say_the_same(asia, patients, kind, tmp_path):
    words = patients.astype(str).astype(object)
    plain = BayesianNetwork(asia.edges).fit(words)
    forms = {
        "pandas": words, "polars": pl.DataFrame({c: words[c].tolist() for c in words}),
        "strings": words.to_numpy(dtype=str),
        "objects": words.to_numpy(), "lists": words.to_numpy().tolist(),
        "codes": (words == "yes").astype(int), "categories": patients,
    }  # fmt: skip
    nodes = list(words.columns)
    model = BayesianNetwork(asia.edges, nodes=nodes).fit(forms[kind])
    for name in nodes:
        order = [
            model.states_[name].index(s) if s in model.states_[name] else int(s == "yes")
            for s in plain.states_[name]
        ]
        parents = [
            [
                model.states_[p].index(s) if s in model.states_[p] else int(s == "yes")
                for s in plain.states_[p]
            ]
            for p in model.parents_[name]
        ]
        np.testing.assert_array_equal(model.tables_[name][np.ix_(*parents, order)], plain.tables_[name])


def test_parquet_and_weights(asia, patients, tmp_path):
    codes = (patients == "yes").astype(int)
    counted = codes.value_counts().reset_index(name="times")
    path = tmp_path / "patients.parquet"
    counted.to_parquet(path)
    model = BayesianNetwork(asia.edges).fit(codes)
    weighted = BayesianNetwork(asia.edges).fit(counted[codes.columns], sample_weight=counted.times)
    stored = BayesianNetwork(asia.edges).fit(str(path), sample_weight="times")
    for name in codes:
        np.testing.assert_allclose(weighted.tables_[name], model.tables_[name], rtol=1e-13)
        np.testing.assert_allclose(stored.tables_[name], model.tables_[name], rtol=1e-13)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("share", [0.0, 0.2], ids=["complete", "with holes"])
def test_order_chunks_and_threads_do_not_matter(asia, patients, share, monkeypatch):
    X = with_holes(patients.iloc[:300], share, 5)
    model = BayesianNetwork(asia.edges, prior="bdeu", max_iter=5, random_state=0)
    plain = clone(model).fit(X)
    shuffled = clone(model).fit(X.iloc[np.random.default_rng(0).permutation(len(X))])
    monkeypatch.setattr(gnomon.core.rows, "CHUNK_ROWS", 16)
    monkeypatch.setattr(gnomon.core.rows, "CHUNK_BYTES", 16)
    with threads(1):
        one, said = clone(model).fit(X), plain.score_samples(X)
    with threads(4):
        many = clone(model).fit(X)
        assert_same_bits(said, plain.score_samples(X))
    for name in X:
        np.testing.assert_allclose(shuffled.tables_[name], plain.tables_[name], rtol=1e-9)
        np.testing.assert_allclose(one.tables_[name], plain.tables_[name], rtol=1e-9)
        assert_same_bits(one.tables_[name], many.tables_[name])


def test_unseen_parents_give_uniform_rows_and_a_flag():
    X = pd.DataFrame({"a": [0, 0, 1], "b": [0, 1, 1], "c": [0, 1, 1]})
    model = BayesianNetwork([("a", "c"), ("b", "c")]).fit(X)
    assert model.unseen_["c"].tolist() == [[False, False], [True, False]]
    assert model.tables_["c"][1, 0].tolist() == [0.5, 0.5]


def test_tied_tables_and_pseudo_counts(patients):
    edges = [("smoke", "lung"), ("smoke", "bronc")]
    X = patients[["smoke", "lung", "bronc"]]
    tied = BayesianNetwork(edges, tied=[["lung", "bronc"]]).fit(X)
    np.testing.assert_array_equal(tied.tables_["lung"], tied.tables_["bronc"])
    apart = BayesianNetwork(edges).fit(X)
    together = apart.posterior_tables_["lung"] + apart.posterior_tables_["bronc"]
    np.testing.assert_allclose(tied.tables_["lung"], together / together.sum(axis=1, keepdims=True))
    given = BayesianNetwork(edges, prior="dirichlet", pseudo_counts={"smoke": [1000.0, 0.0]}).fit(X)
    counts = apart.posterior_tables_["smoke"]
    np.testing.assert_allclose(given.tables_["smoke"], (counts + [1000, 0]) / (counts.sum() + 1000))
    mode = BayesianNetwork(edges, prior="dirichlet", pseudo_counts=2.0, point="mode").fit(X)
    np.testing.assert_allclose(mode.tables_["smoke"], (counts + 1) / (counts.sum() + 2))


def test_marginal_likelihood_is_the_chain_of_predictions():
    X = pd.DataFrame({"a": [0, 1, 1, 0, 1], "b": [1, 1, 0, 0, 1]})
    states = {"a": [0, 1], "b": [0, 1]}
    whole = BayesianNetwork([("a", "b")], prior="k2", states=states).fit(X)
    logs = 0.0
    for i in range(5):
        before = X.iloc[:i]
        if i == 0:
            logs += np.log(0.25)
        else:
            logs += (
                BayesianNetwork([("a", "b")], prior="k2", states=states)
                .fit(before)
                .score_samples(X.iloc[[i]])[0]
            )
    assert whole.log_marginal_likelihood_ == pytest.approx(logs, rel=1e-12)


@pytest.mark.parametrize("algorithm", ["em", "hard"])
@pytest.mark.parametrize("prior", ["mle", "bdeu"])
def test_em_never_falls(asia, patients, algorithm, prior):
    holes = with_holes(patients.iloc[:400], 0.2, 1)
    model = BayesianNetwork(asia.edges, algorithm=algorithm, prior=prior, tol=0.0, max_iter=12)
    values = model.fit(holes).trace_.objective
    assert len(values) > 2 and (np.diff(values) >= -1e-9).all()


def test_em_equals_a_slow_twin():
    """Expected counts of every row by walking through all joint states."""
    model = random_network(5, n=4)
    rows = with_holes(model.sample(30, random_state=1), 0.3, 2)
    start = {name: model.tables_[name] for name in model.variables_}
    em = BayesianNetwork(model.edges, states=model.states_, nodes=model.variables_, tables=start)
    steps = iter(em.iterate(rows))
    next(steps)
    found = next(steps).posterior_tables_
    expected = {name: np.zeros_like(table) for name, table in start.items()}
    states = model.states_
    total = 0.0
    for _, row in rows.iterrows():
        fits = [(at, p) for at, p in walk(model) if all(pd.isna(v) or at[k] == v for k, v in row.items())]
        whole = sum(p for _, p in fits)
        total += np.log(whole)
        for at, p in fits:
            for name in start:
                cell = tuple(states[u].index(at[u]) for u in (*model.parents_[name], name))
                expected[name][cell] += p / whole
    for name in start:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-9, atol=1e-12)
    assert model.score_samples(rows).sum() == pytest.approx(total, rel=1e-10)


def test_hidden_variable_explains_and_relabels(patients, asia):
    seen = patients.drop(columns="smoke").iloc[:500]
    options = dict(states={"smoke": ["a", "b"]}, n_init=2, max_iter=30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = BayesianNetwork(asia.edges, random_state=0, **options).fit(seen)
    values = model.trace_.objective
    assert (np.diff(values) >= -1e-9).all() and values[-1] > values[0]
    net = dict(model.tables_.items())
    turned = {**net, "smoke": net["smoke"][::-1], "lung": net["lung"][::-1], "bronc": net["bronc"][::-1]}
    other = BayesianNetwork(asia.edges, states=model.states_, tables=turned, nodes=model.variables_)
    assert other.score(seen) == pytest.approx(model.score(seen), rel=1e-12)


def test_hidden_variable_with_one_state_changes_nothing(patients):
    X = patients[["smoke", "bronc"]]
    plain = BayesianNetwork([("smoke", "bronc")]).fit(X)
    one = BayesianNetwork([("smoke", "bronc"), ("h", "smoke")], states={"h": ["only"]}, random_state=0)
    with pytest.warns(UserWarning, match="hidden variable 'h' has one state, 'only'"):
        one.fit(X)
    assert one.score(X) == pytest.approx(plain.score(X), rel=1e-10)
    np.testing.assert_allclose(one.tables_["bronc"], plain.tables_["bronc"], rtol=1e-9)


def test_symmetric_start_is_reported():
    tables = {"h": [0.5, 0.5], "x": [[0.5, 0.5], [0.5, 0.5]]}
    with pytest.warns(UserWarning, match="treat all states of 'h' alike"):
        BayesianNetwork([("h", "x")], tables=tables).fit(pd.DataFrame({"x": [0, 1, 1]}))


# rows


def test_missing_cells_are_filled_by_the_best_completion(asia, patients):
    holes = with_holes(patients.iloc[:60], 0.25, 3)
    filled = pd.DataFrame(asia.predict(holes), columns=holes.columns)
    for i in range(len(holes)):
        seen = {k: v for k, v in holes.iloc[i].items() if not pd.isna(v)}
        best = asia.mpe(seen)
        assert asia.probability(dict(filled.iloc[i])) == pytest.approx(
            np.exp(best.log_probability), rel=1e-10
        )
    np.testing.assert_array_equal(asia.transform(holes), filled.to_numpy())
    proba = asia.predict_marginal(holes.assign(lung=None), "lung")
    row = {k: v for k, v in holes.iloc[0].items() if not pd.isna(v) and k != "lung"}
    np.testing.assert_allclose(proba[0], asia.query("lung", row).values, rtol=1e-10)


def test_rows_with_holes_have_the_probability_of_what_is_seen(asia, patients):
    holes = with_holes(patients.iloc[:60], 0.25, 4)
    said = asia.score_samples(holes)
    for i in range(len(holes)):
        seen = {k: v for k, v in holes.iloc[i].items() if not pd.isna(v)}
        assert np.exp(said[i]) == pytest.approx(asia.probability(seen), rel=1e-10)


def test_unknown_state_names_column_and_cure(asia, patients):
    with pytest.raises(DataError, match="column 'dysp' of X holds the string 'ys'.*Did you mean 'yes'"):
        asia.score_samples(patients.iloc[:5].astype(object).assign(dysp="ys"))
    with pytest.raises(DataError, match="'lung' has no state 'yse'"):
        asia.query("dysp", {"lung": "yse"})
    with pytest.raises(DataError, match="no variable 'lnug'. Did you mean 'lung'"):
        asia.query("lnug")


# samples


@pytest.mark.parametrize("method", ["ancestral", "exact", "rejection", "gibbs"])
def test_samples_have_the_right_frequencies(method):
    model = random_network(8, n=5)
    evidence = {} if method == "ancestral" else {model.variables_[-1]: model.states_[model.variables_[-1]][0]}
    rows = model.sample(20_000, evidence, method=method, random_state=0)
    for name in model.variables_[:-1]:
        p = model.query(name, evidence).values
        share = rows[name].value_counts(normalize=True).reindex(model.states_[name]).fillna(0).to_numpy()
        slack = 3.0 if method == "gibbs" else 1.0
        assert (np.abs(share - p) < slack * 4.5 * np.sqrt(p * (1 - p) / 20_000) + 1e-12).all()
    again = model.sample(50, evidence, method=method, random_state=7)
    pd.testing.assert_frame_equal(again, model.sample(50, evidence, method=method, random_state=7))


@pytest.mark.parametrize("method", ["likelihood_weighting", "gibbs", "rejection"])
def test_approximate_queries_know_their_error(method):
    model = random_network(21, n=6)
    a, b = model.variables_[0], model.variables_[-1]
    evidence = {b: model.states_[b][0]}
    found = model.query(a, evidence, method=method, n_samples=20_000, random_state=0)
    exact = model.query(a, evidence)
    assert (np.abs(found.values - exact.values) <= 4 * found.standard_error + 1e-12).all()
    assert found.effective_size <= 20_000 * (1 + 1e-12)
    if method != "gibbs":
        assert found.log_evidence == pytest.approx(exact.log_evidence, abs=0.05)


def test_gibbs_refuses_tables_with_zeros(asia):
    with pytest.raises(DegenerateError, match="'either' has zeros"):
        asia.sample(10, {"xray": "yes"}, method="gibbs", random_state=0)
    assert len(asia.sample(10, {"xray": "yes"}, method="gibbs", random_state=0, force=True)) == 10


def test_rejection_gives_up_with_its_rate(asia):
    with pytest.raises(DegenerateError, match="rejection kept"):
        asia.sample(1000, {"asia": "yes", "tub": "yes"}, method="rejection", max_tries=5000, random_state=0)


# building


def test_built_step_by_step():
    model = BayesianNetwork().add_variable("a", ["x", "y"]).add_variable("b", ["u", "v"])
    model.set_table("a", [0.3, 0.7]).set_table("b", [[1.0, 0.0], [0.0, 1.0]], parents=["a"])
    assert model.query("a", {"b": "v"})["y"] == 1.0
    with pytest.raises(DataError, match="a → b → a"):
        model.add_edge("b", "a")
    factor = BayesianNetwork(
        [("a", "b")], tables={"a": [0.3, 0.7], "b": model._network().factor(1)}, states=model.states
    )
    assert factor.query("b")["u"] == pytest.approx(0.3)


WRONG = {
    "cycle": (dict(edges=[("a", "b"), ("b", "c"), ("c", "a")]), "a → b → c → a"),
    "self": (dict(edges=[("a", "a")]), "a → a"),
    "twice": (dict(edges=[("a", "b"), ("a", "b")]), "'a' → 'b' is given twice"),
    "no table": (dict(edges=[("a", "b")], tables={"a": [1.0]}), "'b' has no table"),
    "sum": (
        dict(edges=[("a", "b")], states={"a": ["x", "y"]}, tables={"a": [0.5, 0.5], "b": [[0.5, 0.5], [0.5, 0.6]]}),
        "'b' sums to 1.1 for a=y",
    ),
    "negative": (dict(nodes=["a"], tables={"a": [1.5, -0.5]}), "'a' must hold probabilities"),
    "shape": (dict(edges=[("a", "b")], tables={"a": [0.5, 0.5], "b": [0.5, 0.5]}), "'b' must have 2 axes"),
    "states": (dict(nodes=["a"], states={"a": "xx"}, tables={"a": [0.5, 0.5]}), "states of 'a' must be different"),
    "stranger": (dict(nodes=["a"], tables={"a": [1.0], "b": "no"}), "'b' is no array"),
    "parent size": (
        dict(edges=[("a", "b")], tables={"a": [0.5, 0.5], "b": [[0.5, 0.5]] * 3}), "'b' must have shape .2, 2."
    ),
    "edge": (dict(edges=["ab"]), "edges must be pairs"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named(name):
    options, message = WRONG[name]
    with pytest.raises(DataError, match=message):
        BayesianNetwork(**{"tables": {"a": [1.0], "b": [1.0], "c": [1.0]}, **options}).joint()


def test_disconnected_networks_multiply():
    model = BayesianNetwork(nodes=["a", "b"], tables={"a": [0.2, 0.8], "b": [0.3, 0.7]})
    for method in ("auto", "elimination", "junction_tree", "enumeration"):
        found = model.query("a", {"b": 1}, method=method)
        assert found[0] == pytest.approx(0.2) and found.log_evidence == pytest.approx(np.log(0.7))
        np.testing.assert_allclose(
            model.query(["a", "b"], method=method).values, np.outer([0.2, 0.8], [0.3, 0.7])
        )
    assert model.mpe().states == {"a": 1, "b": 1}


def test_too_large_is_announced_before_it_runs():
    """A grid of 60 causes and 60 effects, each with ten causes: no junction tree fits, sampling does."""
    rng = np.random.default_rng(0)
    edges, tables = [], {f"c{i}": [0.5, 0.5] for i in range(60)}
    for j in range(60):
        causes = rng.choice(60, size=6, replace=False)
        edges += [(f"c{i}", f"e{j}") for i in causes]
        tables[f"e{j}"] = rng.dirichlet([1, 1], size=[2] * 6)
    model = BayesianNetwork(edges, tables=tables)
    seen = {f"e{j}": 0 for j in range(60)}
    for ask in (lambda: model.marginals(seen), lambda: model.query("c0", seen), lambda: model.mpe(seen)):
        with pytest.raises(TableTooLargeError, match="likelihood_weighting.*BeliefPropagation"):
            ask()
    with pytest.raises(TableTooLargeError, match="GiB"):
        model.joint()
    assert gnomon.graphical.inference_plan(model, "c0", seen).bytes > 2**33
    assert model.query("e0").values.sum() == pytest.approx(1.0), "pruning leaves six causes"
    assert model.query("c0", {"e0": 0}, method="likelihood_weighting", random_state=0).effective_size > 100


def test_saved_network_answers_the_same(asia, patients, tmp_path):
    model = BayesianNetwork(asia.edges, prior="bdeu").fit(patients)
    for one in (asia, model):
        gnomon.save(one, tmp_path / "net")
        other = gnomon.load(tmp_path / "net")
        np.testing.assert_array_equal(
            one.query("lung", {"dysp": "yes"}).values, other.query("lung", {"dysp": "yes"}).values
        )


def test_separation_implies_independence_and_connection_dependence():
    for seed in range(25):
        model = random_network(seed, n=5, most_states=2)
        if any(len(s) < 2 for s in model.states_.values()):
            continue
        names = model.variables_
        rng = np.random.default_rng(seed)
        for _ in range(6):
            a, b, *rest = (str(v) for v in rng.permutation(names))
            given = rest[: int(rng.integers(0, 3))]
            if model.d_separated(a, b, given):
                assert model.is_independent(a, b, given)
            else:
                assert not model.is_independent(a, b, given, tol=1e-7), (seed, a, b, given)


@pytest.mark.parametrize("seed", range(15))
def test_reordering_and_turning_keep_the_joint(seed):
    model = random_network(seed, n=5)
    rng = np.random.default_rng(seed)
    order = [str(v) for v in rng.permutation(model.variables_)]
    joint = model.joint().permute(order).values
    other = model.reorder(order)
    np.testing.assert_allclose(other.joint().permute(order).values, joint, atol=1e-12)
    assert other.n_parameters_ >= model.reorder(model.best_order()).n_parameters_
    for a, b in model.edges:
        try:
            turned = model.reverse_edge(a, b)
        except DataError as error:
            assert "cycle" in str(error)
            continue
        np.testing.assert_allclose(turned.joint().permute(order).values, joint, atol=1e-12)
        assert (b, a) in turned.edges
        covered = set(model.parents_[b]) == {*model.parents_[a], a}
        if covered:
            assert turned.n_parameters_ == model.n_parameters_


def test_empty_questions_and_wrong_kinds_are_answered_clearly(asia):
    seen = {"dysp": "yes"}
    for method in ("auto", "elimination", "junction_tree", "enumeration", "polytree"):
        assert asia.query([], seen, method=method).log_evidence == pytest.approx(np.log(0.4359706), rel=1e-9)
    with pytest.raises(DataError, match="evidence must be a dict"):
        asia.query("lung", ["dysp"])
    for method, given in (("ancestral", None), ("exact", seen), ("rejection", seen), ("gibbs", seen)):
        rows = asia.sample(0, given, method=method, force=True)
        assert rows.shape == (0, 8)
    for n in (-1, 1.5, True):
        with pytest.raises(DataError, match="n must be a whole number"):
            asia.sample(n)
    with pytest.raises(DataError, match="n_samples must be a whole number"):
        asia.query("lung", seen, method="likelihood_weighting", n_samples=0)


def test_tables_that_are_replaced_count():
    model = BayesianNetwork(nodes=["a"], tables={"a": [0.3, 0.7]})
    assert model.query("a")[1] == pytest.approx(0.7)
    model.tables["a"] = [0.5, 0.5]
    assert model.query("a")[1] == pytest.approx(0.5)


def test_column_without_any_cell_is_hidden(patients, asia):
    """It starts from random tables: equal ones would stay equal for ever."""
    empty = patients.assign(bronc=None)
    options = dict(states={"bronc": ["yes", "no"]}, max_iter=5, tol=0.0, random_state=0)
    found = BayesianNetwork(asia.edges, **options).fit(empty)
    assert np.abs(found.tables_["bronc"] - 0.5).max() > 0.01
    assert np.abs(found.tables_["dysp"][0] - found.tables_["dysp"][1]).max() > 0.01, "bronc tells something"


@pytest.mark.parametrize("kind", ["strings", "categories", "dask"])
def test_words_of_tables_on_disk_are_states(asia, patients, tmp_path, kind):
    frame = patients.astype(str) if kind != "categories" else patients
    frame = frame.assign(weight=np.arange(len(frame)) % 3)
    holes = frame.copy()
    holes["lung"] = holes["lung"].astype(object).where(np.arange(len(frame)) % 5 > 0, None)
    if kind == "dask":
        dataframe = pytest.importorskip("dask.dataframe")
        table, open_table = (dataframe.from_pandas(f, npartitions=3) for f in (frame, holes))
    else:
        table, open_table = tmp_path / "table.parquet", tmp_path / "holes.parquet"
        frame.to_parquet(table, row_group_size=700)
        holes.to_parquet(open_table, row_group_size=700)
    inner = BayesianNetwork(asia.edges, nodes=asia.nodes)
    expected = clone(inner).fit(frame.drop(columns="weight").astype(str), sample_weight=frame["weight"])
    found = clone(inner).fit(table, sample_weight="weight")
    assert found.states_["lung"] == ["no", "yes"]
    for name in asia.nodes:
        np.testing.assert_allclose(found.tables_[name], expected.tables_[name], rtol=1e-12)
    few = clone(inner).set_params(max_iter=3, tol=0.0).fit(open_table, sample_weight="weight")
    same = clone(inner).set_params(max_iter=3, tol=0.0)
    same.fit(holes.drop(columns="weight"), sample_weight=holes["weight"])
    assert few.log_likelihood_ == pytest.approx(same.log_likelihood_, rel=1e-9)
    with pytest.raises(DataError, match="'lung' of X holds the string 'no'"):
        clone(inner).set_params(states={"lung": ["yes"]}).fit(table, sample_weight="weight")
