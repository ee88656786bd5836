"""Pictures of the lab by hand: layers, worlds, beliefs, factors, chains, tracks, experiments, and sentences."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_array

from gnomon.cluster import KMeans
from gnomon.core.trace import Trace
from gnomon.decide import GridWorld, PolicyIteration, QLearning
from gnomon.decomposition import PCA
from gnomon.lab import panels, widget
from gnomon.lab.scene_experiments import experiment_panels
from gnomon.lab.scene_factors import component_panels, ratings_panels, topic_panels
from gnomon.lab.scene_graphs import belief_panels
from gnomon.lab.scene_sequences import chain_panels, track_panels
from gnomon.lab.scene_worlds import world_panels
from gnomon.lab.scenes import general, last_numbers, sentence, shown_points
from gnomon.sequence import CategoricalHMM, MarkovChain
from gnomon.topics import LatentDirichletAllocation


def test_layers_by_hand():
    assert panels.codes([[0, 9], [10, 35], [36, 71]]) == "09az0z"
    assert panels.limits([0.0, np.nan, 10.0, np.inf]) == [-0.8, 10.8] and panels.limits([1.0], 0.5) == [0, 2]
    assert panels.limits([]) == panels.limits([np.nan]) == [-0.08, 1.08]
    plain = panels.data_points()
    assert plain == {"type": "data", "ring": []}
    full = panels.data_points(
        [1, 2], ringed=[1], sizes=[1.0, 2.0], tips=["a", "b"], shares=[[0.0, 1.0], [0.5, 2.0]]
    )
    assert (
        full["codes"] == "12"
        and full["ring"] == [1]
        and full["sizes"] == [1, 2]
        and full["tips"] == ["a", "b"]
    )
    assert (
        full["parts"] == 2 and full["shares"] == "0zhz" or full["shares"] == "0ziz"
    )  # 17.5 is between h and i
    marks = panels.points([1.0, 2.0], classes=[3], tips=("x",), mark="cross")
    assert (marks["xy"], marks["codes"], marks["tips"], marks["mark"], marks["size"]) == (
        [[1, 2]],
        "3",
        ["x"],
        "cross",
        4,
    )
    assert "codes" not in panels.points([[0, 0]]) and "tips" not in panels.points([[0, 0]])
    cells = panels.raster([[0, 1, 2], [3, 4, 5]], (0, 3), (0, 2), (2, 3))
    assert (cells["rows"], cells["columns"], cells["codes"]) == (2, 3, "012345")
    field = panels.surface([[0.0, 1.0], [2.0, 3.00004]], (0, 1), (0, 1), (2, 2), low=0)
    assert field["values"] == [0, 1, 2, 3] and field["low"] == 0
    table = panels.matrix("m", [1, 2], rows=["r"], columns=[0, 1])
    assert table["values"] == [[1, 2]] and table["rows"] == ["r"] and table["columns"] == ["0", "1"]
    drawn = panels.bars("b", [1, 2], [0.5, np.nan], [0, 1])
    assert drawn["names"] == ["1", "2"] and drawn["values"] == [0.5, None] and drawn["codes"] == "01"
    assert panels.bars("b", [1], [1])["codes"] is None
    assert panels.answer_or_none(lambda: 1 / 0) is None and panels.answer_or_none(lambda: 3) == 3


def test_nodes_on_a_circle_go_around_from_the_top():
    places = [(node["x"], node["y"]) for node in panels.circle_layout("abcd")]
    assert places == [(0.5, 0.88), (0.88, 0.5), (0.5, 0.12), (0.12, 0.5)]
    assert panels.circle_layout([7]) == [{"x": 0.5, "y": 0.5, "name": "7"}] and panels.circle_layout([]) == []


def test_an_ellipse_is_where_the_distance_is_constant():
    C = np.array([[2.0, 1.2], [1.2, 3.0]])
    off = np.array(panels.ellipse([1.0, -1.0], C, deviations=1.5)["xy"]) - [1.0, -1.0]
    np.testing.assert_allclose(np.einsum("ni,ij,nj->n", off, np.linalg.inv(C), off), 2.25, rtol=1e-3)
    flat = np.array(panels.ellipse([0.0, 0.0], [[1.0, 0.0], [0.0, -1e-12]])["xy"])
    assert flat[:, 0].max() == 2 and not flat[:, 1].any()


def test_a_level_is_crossed_where_it_is():
    x = y = np.linspace(-2, 2, 81)
    (circle,) = panels.contour(x[None] ** 2 + y[:, None] ** 2, x, y, 1.0, color=3)
    np.testing.assert_allclose(np.hypot(*np.array(circle["xy"]).T), 1.0, atol=2e-3)
    assert circle["color"] == 3 and circle["type"] == "line"


def test_a_world_shows_values_arrows_and_the_way():
    world = GridWorld(
        (2, 3), walls=[(1, 1)], terminals={(0, 2): 1.0}, start=(1, 0), move_probability=1.0, slip_probability=0.0,
        discount=0.5,
    )  # fmt: skip
    model, material = PolicyIteration().fit(world), SimpleNamespace(X=world)
    shown, actions = world_panels(model, material)
    V = {(0, 2): 1.0, (0, 1): 0.5, (0, 0): 0.25, (1, 0): 0.125, (1, 2): 0.5}
    assert shown["values"] == [[V.get((i, j)) for j in range(3)] for i in range(2)]
    assert shown["marks"] == [["→", "→", "●"], ["↑", "■", "↑"]]
    assert shown["path"] == [[1, 0], [0, 0], [0, 1], [0, 2]]
    assert actions["rows"] == ["up", "right", "down", "left"]
    np.testing.assert_allclose(np.array(actions["values"]).max(axis=0), model.V_)
    learned = SimpleNamespace(Q_=model.Q_)
    bare, more = world_panels(learned, material)
    assert bare["values"] == shown["values"] and bare["marks"] is None and bare["path"] == []
    assert more["values"] == actions["values"]
    (nothing,) = world_panels(SimpleNamespace(), material)
    assert nothing["values"] == [[0, 0, 0], [0, None, 0]]
    assert world_panels(model, SimpleNamespace(X=np.eye(2))) == []
    wide = GridWorld((2, 2), terminals={(0, 1): 1.0}, moves=8, discount=0.5)
    each = world_panels(PolicyIteration().fit(wide), SimpleNamespace(X=wide))[1]
    assert len(each["values"]) == 8 and each["rows"] == list(wide.action_names)


def test_beliefs_with_and_without_a_table():
    one = SimpleNamespace(variables=("a",))
    two = SimpleNamespace(variables=("a", "b"))
    model = SimpleNamespace(
        beliefs_={"a": [0.25, 0.75], "b": [0.5, 0.5]},
        messages_={(1, "b"): np.array([1.0, 3.0]), (1, "a"): np.zeros(2)},
    )
    drawn, table = belief_panels(model, SimpleNamespace(X=[one, two]))
    assert [node["value"] for node in drawn["nodes"]] == [0.75, 0.5]
    assert drawn["nodes"][0]["tip"] == "belief 0.25, 0.75" and drawn["directed"]
    assert drawn["edges"][1] == {"from": 1, "to": 0}
    assert drawn["edges"][0] == {"from": 0, "to": 1, "value": 0.75, "tip": "message a → b: 1, 3"}
    assert table["values"] == [[0.25, 0.75], [0.5, 0.5]] and (table["low"], table["high"]) == (0, 1)
    model.beliefs_["b"] = [0.2, 0.3, 0.5]
    assert len(belief_panels(model, SimpleNamespace(X=None))) == 1
    assert belief_panels(SimpleNamespace(beliefs_=[1]), None) == []


def test_factors_and_topics():
    U, V = np.arange(6.0).reshape(3, 2), np.array([[1.0, 0.0], [2.0, 1.0]])
    both, users, items = ratings_panels(SimpleNamespace(user_factors_=U, item_factors_=V), None)
    assert both["values"] == (U @ V.T).tolist()
    assert users["values"] == U.T.tolist() and items["values"] == V.T.tolist()
    assert len(ratings_panels(SimpleNamespace(user_factors_=U, item_factors_=V[:, :1]), None)) == 2
    many = ratings_panels(SimpleNamespace(user_factors_=np.ones((50, 2)), item_factors_=V), None)
    assert np.shape(many[1]["values"]) == (2, 40)
    assert ratings_panels(SimpleNamespace(user_factors_=U), None) == []

    topics = LatentDirichletAllocation(2)
    topics.components_ = np.array([[6.0, 1.0, 3.0], [2.0, 2.0, 4.0]])
    shares, first, second = topic_panels(topics, SimpleNamespace(names=["ant", "bee", "cat"]))
    assert shares["values"] == [[0.6, 0.1, 0.3], [0.25, 0.25, 0.5]] and shares["rows"] == [
        "topic 0",
        "topic 1",
    ]
    assert first["names"] == ["ant", "cat", "bee"] and first["values"] == [0.6, 0.3, 0.1]
    assert second["names"] == ["cat", "ant", "bee"]
    unnamed = topic_panels(topics, SimpleNamespace(names=["x0", "x1", "x2"]))
    assert unnamed[0]["columns"] == ["word 0", "word 1", "word 2"]
    topics.components_ = np.ones((9, 20))
    table, *most = topic_panels(topics, SimpleNamespace(names=[]))
    assert np.shape(table["values"]) == (9, 20) and len(most) == 6  # so many topics are drawn as bars
    assert all(len(bars["names"]) == 8 for bars in most)
    assert topic_panels(PCA(), None) == []

    parts = PCA(2)
    for width, kind in [(3, "matrix"), (9, "matrix"), (16, "images"), (100, "images")]:
        parts.components_ = np.arange(2.0 * width).reshape(2, width)
        (panel,) = component_panels(parts, SimpleNamespace(names=[]))
        assert panel["kind"] == kind
        side = round(width**0.5)
        wanted = parts.components_.reshape(2, side, side) if kind == "images" else parts.components_
        assert np.allclose(panel["images" if kind == "images" else "values"], wanted, atol=0.05)
    parts.components_ = np.ones((2, 101))
    assert component_panels(parts, None) == [] == component_panels(SimpleNamespace(components_=U), None)


def test_a_chain_over_time():
    X = np.array([[0.0], [1.0], [0.0]])
    model = CategoricalHMM(2, n_features=2)
    model.startprob_, model.transmat_ = np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.004, 0.996]])
    model.emissionprob_ = np.array([[0.8, 0.2], [0.3, 0.7]])
    path, shares, moves, shown = chain_panels(model, SimpleNamespace(X=X.astype(int), names=["sign"]))
    assert path["layers"][0]["codes"] == panels.codes(model.predict(X.astype(int)))
    assert (path["x"], path["y"], path["ylim"]) == ("time", "sign", [-0.08, 1.08])
    np.testing.assert_allclose(np.transpose(shares["values"]), model.predict_proba(X.astype(int)), atol=1e-4)
    assert moves["edges"] == [{"from": 0, "to": 1, "value": 0.1}]  # 0.004 is too little to be drawn
    assert [node["code"] for node in moves["nodes"]] == [0, 1]
    assert [node["tip"] for node in moves["nodes"]] == [
        f"stays with probability {p}" for p in ("0.9", "0.996")
    ]
    assert shown["values"] == model.emissionprob_.tolist() and shown["rows"] == ["state 0", "state 1"]
    chain = MarkovChain().fit([list("abba")])
    (only,) = chain_panels(chain, SimpleNamespace(X=[list("abba")], names=[]))
    assert [node["name"] for node in only["nodes"]] == ["a", "b"]
    assert only["edges"] == [{"from": 0, "to": 1, "value": 1.0}, {"from": 1, "to": 0, "value": 0.5}]
    named = SimpleNamespace(transmat_=csr_array(np.eye(2)), states_=["one"])
    assert [node["name"] for node in chain_panels(named, SimpleNamespace(X=None))[0]["nodes"]] == ["0", "1"]


def test_a_track_has_an_ellipse_at_every_fifteenth():
    X = np.column_stack([np.arange(30.0), np.zeros(30)])
    spread = np.tile(np.diag([4.0, 1.0, 9.0]), (30, 1, 1))
    told = SimpleNamespace(means=np.column_stack([X, X[:, 0]]), covariances=spread)
    model, material = SimpleNamespace(smooth=lambda X: told), SimpleNamespace(X=X, names=["a", "b", "c"])
    (panel,) = track_panels(model, material)
    _, way, dots, *rings = panel["layers"]
    assert way["xy"] == X.tolist() and len(rings) == 15 and (panel["x"], panel["y"]) == ("a", "b")
    assert dots["tips"][3] == "time 3: 3.0, 0.0; deviations 2, 1"
    np.testing.assert_allclose(
        np.array(rings[1]["xy"]).max(axis=0), [6, 2], atol=1e-3
    )  # two deviations around (2, 0)
    assert track_panels(model, SimpleNamespace(X=X[:, :1], names=["a"])) == []
    assert track_panels(SimpleNamespace(), material) == []
    cloud = type("ParticleFilter", (), {"means_": X.copy(), "covariances_": spread[:, :2, :2].copy()})()
    cloud.means_[3, 1] = cloud.covariances_[7, 0, 0] = np.nan  # where nothing was known
    _, way, *_ = track_panels(cloud, material)[0]["layers"]
    assert way["xy"] == np.delete(X, [3, 7], axis=0).tolist()
    cloud.means_ = np.zeros((30, 3))
    assert track_panels(cloud, material) == []


def test_bounds_and_posteriors_of_experiments():
    tossed = SimpleNamespace(
        draws_=np.array([1, 2]),
        bounds_=np.array([1.0, 0.5]),
        frequencies_=np.array([0.5, 0.25]),
        max_draws=10,
    )
    (panel,) = experiment_panels(tossed, None)
    bound, simulated, dots = panel["layers"]
    assert bound["xy"] == [[1, 1], [2, 0.5]] and simulated["xy"] == dots["xy"] == [[1, 0.5], [2, 0.25]]
    assert panel["xlim"] == [0, 10.2] and panel["title"].startswith("n = 2: strays in 25.0% of the trials")
    assert "at most 50.0%" in panel["title"] and dots["tips"][0] == "n = 1: 0.5, bound 1"
    coin = SimpleNamespace(heads_=3, tails_=1, a=1.0, b=2.0)
    (panel,) = experiment_panels(coin, None)
    known = stats.beta(4, 3)
    between, curve = panel["layers"]
    np.testing.assert_allclose(
        [curve["xy"][k][1] for k in (50, 150)], known.pdf([curve["xy"][k][0] for k in (50, 150)]), rtol=1e-2
    )
    np.testing.assert_allclose([between["x"][0], between["x"][-1]], known.ppf([0.025, 0.975]), atol=1e-4)
    assert not any(between["low"]) and panel["title"].startswith("3 heads, 1 tails: between 0.223 and 0.882")
    assert experiment_panels(SimpleNamespace(), None) == []


def trace(objective=(), unit="step", **more):
    return Trace(np.array(objective, dtype=float), np.zeros(len(objective)), unit=unit, **more)


@pytest.mark.parametrize(
    ("told", "step", "said"),
    [
        (trace([4.0], "sweep"), 1, "Sweep 1: objective 4."),
        (trace([4.0, 1.5]), 2, "Step 2: objective 1.5, down by 2.5."),
        (trace([1.5, 4.0]), 2, "Step 2: objective 4, up by 2.5."),
        (trace([4.0, 4.0]), 2, "Step 2: objective 4, unchanged."),
        (trace([np.nan, 4.0]), 2, "Step 2: objective 4."),
        (trace([4.0, np.nan]), 2, "Step 2."),
        (trace([], "epoch"), 0, "The start, before the first epoch."),
        (trace([4.0]), 0, "Step 1: objective 4."),
        (trace([4.0], certificate=[0.25]), 1, "Step 1: objective 4; at most 0.25 from the optimum by its certificate."),
        (trace([4.0], certificate=[np.inf]), 1, "Step 1: objective 4."),
        (trace([4.0], info={"mean_return": [2.0], "loss": [np.nan]}), 1, "Step 1: objective 4; mean return 2."),
        (None, 0, "The start, before the first step."),
        (None, 3, "Step 3."),
    ],
)  # fmt: skip
def test_sentences_by_hand(told, step, said):
    assert sentence(SimpleNamespace(trace_=told, iterate=None), step) == said
    if told is not None and len(told):
        numbers = last_numbers(SimpleNamespace(trace_=told))
        assert all(np.isfinite(value) for value in numbers.values()) and "seconds" not in numbers
        assert ("objective" in numbers) == bool(np.isfinite(told.objective[-1]))
    else:
        assert last_numbers(SimpleNamespace(trace_=told)) == {}


def test_models_without_a_scene_show_their_arrays():
    assert sentence(SimpleNamespace(), 4) == "Step 1."
    model = SimpleNamespace(
        a_=np.array([1.0, -2.0]),
        b_=np.ones((2, 2, 2)),
        c_=3,
        d_=True,
        e_=np.ones(1),
        f=np.ones(5),
        g_=csr_array(np.eye(2)),
    )
    one, two, three, facts = general(model)
    assert (
        one["values"] == [[1, -2]]
        and one["diverging"]
        and two["values"] == [[1] * 4] * 2
        and not two["diverging"]
    )
    assert three["values"] == [[1, 0], [0, 1]] and facts["facts"] == [["c_", 3.0]]
    (kept,) = general(SimpleNamespace(words_=["a"], other=1))
    assert kept["facts"] == [["words_", "['a']"]]


def test_a_class_of_ones_own_is_drawn_as_what_it_is_made_from():
    mine = type("Mine", (KMeans,), {"__module__": "__main__"})
    other = type("Other", (), {"__module__": "__main__"})
    assert [panels.family_of(one) for one in (KMeans(), mine(), other())] == ["cluster", "cluster", ""]
    assert panels.family_of(type("Far", (), {"__module__": "my.ensemble.trees"})()) == "ensemble"
    X = np.array([[0.0, 0.0], [0.1, 0.0], [4.0, 1.0], [4.1, 1.0]])
    _, frames = widget.run(mine(2, random_state=0), X, None)
    _, plain = widget.run(KMeans(2, random_state=0), X, None)
    assert frames[-1]["panels"] == plain[-1]["panels"]
    topics = type("Topics", (LatentDirichletAllocation,), {"__module__": "__main__"})(1)
    topics.components_ = np.array([[1.0, 3.0]])
    assert topic_panels(topics, SimpleNamespace(names=["a", "b"]))[0]["values"] == [[0.25, 0.75]]


def test_points_of_the_data_are_sent_with_their_groups():
    view = SimpleNamespace(xy=np.array([[0.0, 1.0], [2.0, 3.0]]), axes=("a", "b"), xlim=[0, 2], ylim=[1, 3])
    wide = SimpleNamespace(
        X=np.arange(26.0).reshape(2, 13), y=np.array(["u", "v"]), paint=None, names=list("abcdefghijklm")
    )
    shown = shown_points(wide, view)
    assert shown["groups"] == ["u", "v"] and len(shown["names"]) == 12 and np.shape(shown["rows"]) == (2, 12)
    flat = SimpleNamespace(X=view.xy, y=np.array([0.5, 1.0]), paint=None, names=["a", "b"])
    assert shown_points(flat, view)["groups"] is None and shown_points(flat, view)["rows"] is None
    assert shown_points(flat, None) is None


def test_a_learner_of_values_is_drawn_as_it_plays():
    world = GridWorld.small(start=(2, 0))
    model = QLearning(n_episodes=5, random_state=0).fit(world)
    shown = world_panels(model, SimpleNamespace(X=world))[0]
    grid = np.array(shown["values"], dtype=float)
    np.testing.assert_allclose(grid, world.as_grid(model.Q_.max(axis=1)), atol=1e-3)
    assert shown["path"][0] == [2, 0]
