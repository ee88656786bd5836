"""Hidden states with actions: beliefs by hand, against enumeration, and against the ordinary hidden Markov model."""

import itertools

import numpy as np
import pytest

from gnomon.core.errors import DataError, ZeroEvidenceError
from gnomon.decide import ActionHMM, GridWorld, solve

LEFT = [[1, 0, 0], [0.8, 0.2, 0], [0, 0.8, 0.2]]
RIGHT = [[0.2, 0.8, 0], [0, 0.2, 0.8], [0, 0, 1]]
SHOWS = [[0.9, 0.1], [0.2, 0.8], [0.9, 0.1]]


def corridor(**options):
    return ActionHMM(3, 2, 2, transmat=[LEFT, RIGHT], emissionprob=SHOWS, **options)


def test_beliefs_by_hand():
    beliefs = corridor().filter([0, 1, 0, 1], [1, 1, 0])
    expected = [
        [0.45, 0.1, 0.45],
        [0.0245901639, 0.8306010929, 0.1448087432],
        [0.0057487580, 0.0482611781, 0.9459900639],
        [0.0069688820, 0.9633068850, 0.0297242330],
    ]
    np.testing.assert_allclose(beliefs, expected, atol=1e-9)
    assert corridor().score([0, 1, 0, 1], [1, 1, 0]) == pytest.approx(np.log(0.1195792), abs=1e-12)
    step = corridor().belief_update(expected[2], 0, 1)
    np.testing.assert_allclose(step, expected[3], atol=1e-9)
    np.testing.assert_allclose(
        corridor().predict_next([0, 1], [1], 1), np.array(expected[1]) @ RIGHT, atol=1e-9
    )


def enumerated(hmm, o, a):
    """Weights of all paths."""
    T, O = np.array(hmm.transmat), np.array(hmm.emissionprob)
    weights = {}
    for path in itertools.product(range(3), repeat=len(o)):
        w = O[path[0], o[0]] / 3
        for t in range(1, len(o)):
            w *= T[a[t - 1]][path[t - 1], path[t]] * O[path[t], o[t]]
        weights[path] = w
    return weights


def test_smoothing_and_the_best_path_are_those_of_enumeration():
    o, a = [0, 1, 1, 0, 0], [1, 0, 0, 1]
    weights = enumerated(corridor(), o, a)
    total = sum(weights.values())
    posterior = np.zeros((5, 3))
    for path, w in weights.items():
        posterior[np.arange(5), list(path)] += w / total
    found = corridor().predict_proba(o, a)
    np.testing.assert_allclose(found, posterior, atol=1e-12)
    np.testing.assert_allclose(found[-1], corridor().filter(o, a)[-1], atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert corridor().score(o, a) == pytest.approx(np.log(total))
    value, path = corridor().decode(o, a)
    best = max(weights, key=weights.get)
    assert tuple(path) == best and value == pytest.approx(np.log(weights[best]))


def test_one_action_is_the_ordinary_model():
    from gnomon.sequence import CategoricalHMM

    rng = np.random.default_rng(0)
    A, B = rng.dirichlet(np.ones(2), size=2), rng.dirichlet(np.ones(3), size=2)
    o = rng.integers(0, 3, size=40)
    theirs = CategoricalHMM(2, n_features=3)
    theirs.startprob_, theirs.transmat_, theirs.emissionprob_ = np.array([0.5, 0.5]), A, B
    ours = ActionHMM(2, 1, 3, transmat=[A], emissionprob=B)
    none = np.zeros(39, dtype=int)
    assert ours.score(o, none) == pytest.approx(theirs.score(o[:, None]), abs=1e-9)
    np.testing.assert_allclose(ours.predict_proba(o, none), theirs.predict_proba(o[:, None]), atol=1e-9)
    assert ours.decode(o, none)[1].tolist() == theirs.predict(o[:, None]).tolist()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_learning_climbs_and_finds_the_motion():
    rng = np.random.default_rng(1)
    journeys = []
    for seed in range(30):
        a = rng.integers(0, 2, size=40)
        o, _ = corridor().sample(a, seed)
        journeys.append((o, a))
    observations, actions = zip(*journeys)
    model = ActionHMM(3, 2, 2, emissionprob=SHOWS, n_iter=60, random_state=0).fit(
        list(observations), list(actions)
    )
    assert (np.diff(model.trace_.objective) >= -1e-8).all()
    truth = sum(corridor().score(o, a) for o, a in journeys)
    assert model.trace_.objective[-1] > truth - 5
    models = list(
        ActionHMM(3, 2, 2, n_iter=3, tol=0.0, random_state=0).iterate(list(observations), list(actions))
    )
    assert len(models) == 4
    by_action = ActionHMM(3, 2, 2, emissionprob=np.tile(SHOWS, (2, 1, 1)), n_iter=3, tol=0.0, random_state=0)
    assert by_action.fit(list(observations), list(actions)).emissionprob_.shape == (2, 3, 2)


def test_robot_finds_its_way_by_noisy_sensors():
    pytest.importorskip("gymnasium")
    from gnomon.decide.beliefs import HiddenEnv

    grid = GridWorld.classic(start=(2, 0), living_reward=-0.04)
    for sensor, rule in itertools.product(("cell", "walls"), ("qmdp", "most_likely")):
        robot = ActionHMM.from_grid(grid, accuracy=0.85, sensor=sensor)
        np.testing.assert_allclose(robot.emissionprob.sum(axis=1), 1)
        policy = robot.policy(solve(grid), rule)
        found = policy.evaluate(HiddenEnv(grid, robot), 100, max_steps=100, random_state=0)
        assert found.mean > 0.0, (sensor, rule)
        assert policy.belief.sum() == pytest.approx(1)
    sure = ActionHMM.from_grid(grid, accuracy=1.0)
    seen = sure.filter([grid.state((2, 0)), grid.state((1, 0))], [0])
    assert seen[1].argmax() == grid.state((1, 0)) and seen[1].max() == 1.0


def test_impossible_observations_and_other_bad_input():
    firm = ActionHMM(2, 1, 2, transmat=[np.eye(2)], emissionprob=np.eye(2))
    with pytest.raises(ZeroEvidenceError, match="probability zero"):
        firm.filter([0, 1], [0])
    anew = ActionHMM(2, 1, 2, transmat=[np.eye(2)], emissionprob=np.eye(2), on_impossible="reset")
    assert anew.filter([0, 1], [0]).tolist() == [[1, 0], [0, 1]]
    for call, message in [
        (lambda: corridor().filter([0, 1], [0, 1]), "one action less"),
        (lambda: corridor().filter([0, 5], [0]), "0 to 1"),
        (lambda: corridor().filter([0, 1], [7]), "0 to 1"),
        (lambda: ActionHMM(3, 2, 2, transmat=[LEFT], emissionprob=SHOWS).filter([0], []), "transmat"),
        (lambda: corridor().policy(np.zeros((2, 2))), "Q must have shape"),
        (lambda: corridor().policy(np.zeros((3, 2)), "guess"), "rule"),
        (lambda: ActionHMM.from_grid(GridWorld.small(), accuracy=0.0), "accuracy"),
        (lambda: ActionHMM.from_grid(GridWorld.small(), sensor="nose"), "sensor"),
    ]:
        with pytest.raises(DataError, match=message):
            call()
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        ActionHMM(3, 2, 2).filter([0], [])


def test_actions_missing_where_the_robot_cannot_be_do_not_matter():
    hmm = ActionHMM(
        2, 2, 2, startprob=[1.0, 0.0], transmat=np.tile(np.eye(2), (2, 1, 1)), emissionprob=np.eye(2)
    )
    policy = hmm.policy(np.array([[0.0, 1.0], [2.0, -np.inf]]))
    assert policy.choose([1.0, 0.0]) == 1 and policy.choose([0.5, 0.5]) == 0
