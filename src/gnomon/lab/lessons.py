"""Lessons: demonstrations of the courses as ready scenes, with three sentences and one thing to try."""

from __future__ import annotations

from typing import Any, NamedTuple


class Lesson(NamedTuple):
    """A scene with its words."""

    name: str
    title: str
    models: list[dict[str, Any]]  # one, or two side by side: name and settings
    data: dict[str, Any]
    sentences: tuple[str, str, str]
    attempt: str  # the one thing to try


def _model(name: str, **settings: Any) -> dict[str, Any]:
    return {"model": name, "settings": settings}


LESSONS: tuple[Lesson, ...] = (
    Lesson(
        "kmeans_film",
        "K-means, step by step",
        [_model("KMeans", n_clusters=3)],
        {"sample": "clouds"},
        (
            "Every point goes to its nearest center; then every center moves to the mean of its points.",
            "Neither move can raise the sum of squared distances, so it falls until nothing changes.",
            "Where it ends depends on where it began.",
        ),
        "Set init to random and try several seeds: does it always find the same groups?",
    ),
    Lesson(
        "outlier",
        "One outlier, two regressions",
        [_model("LinearRegression"), _model("HuberRegressor")],
        {"sample": "line"},
        (
            "Least squares charges the square of every error, so one far point pulls the whole line.",
            "Huber's loss charges large errors in proportion only.",
            "Both see the same points.",
        ),
        "Move the outlier; which regression follows it?",
    ),
    Lesson(
        "gmm_film",
        "EM for a mixture of Gaussians",
        [_model("GaussianMixture", n_components=3)],
        {"sample": "stretched_clouds"},
        (
            "The E step shares every point among the components; the M step fits each component to its shares.",
            "The likelihood never falls.",
            "The ellipses hold two standard deviations.",
        ),
        "Choose covariance_type spherical: what do the ellipses cost in likelihood?",
    ),
    Lesson(
        "margin",
        "A margin and its support vectors",
        [_model("SVC", kernel="linear"), _model("SVC", kernel="rbf")],
        {"sample": "moons"},
        (
            "The solid line parts the classes; the dashed lines are its margin.",
            "Only the ringed points, the support vectors, hold the line where it is.",
            "A kernel bends it.",
        ),
        "Move a point that is not ringed: does the line move?",
    ),
    Lesson(
        "quadrant_tree",
        "A tree that grows",
        [_model("DecisionTreeClassifier", max_depth=4)],
        {"sample": "quadrants", "noise": 0.0},
        (
            "Every split asks about one column and parts the rows so that they are purer.",
            "The first split of opposite quadrants gains almost nothing.",
            "The second one gains nearly everything.",
        ),
        "Set max_depth to 1: why does the tree not see the pattern?",
    ),
    Lesson(
        "boosting_rounds",
        "Boosting weighs what it got wrong",
        [_model("AdaBoostClassifier", n_estimators=30)],
        {"sample": "quadrants"},
        (
            "Every round adds a stump that does well on the weighted points.",
            "Points that are wrong grow; points that are right shrink.",
            "The bars are the say of every stump.",
        ),
        "Raise the noise: which points grow and grow?",
    ),
    Lesson(
        "casino",
        "The dishonest casino",
        [_model("CategoricalHMM", n_components=2, n_iter=60)],
        {"sample": "casino"},
        (
            "The casino changes between two dice that nobody sees.",
            "Baum-Welch learns the dice and the changes from the throws alone.",
            "The shades tell how sure it is of the die at every throw.",
        ),
        "Ask for three states: what does the third one learn?",
    ),
    Lesson(
        "missile_track",
        "A track through noise",
        [_model("KalmanFilter", max_iter=15)],
        {"sample": "walk"},
        (
            "The filter believes in a place with an ellipse around it.",
            "EM learns how much the walker and the sensor err.",
            "The line is the track given all readings.",
        ),
        "Step back to the start: how wide were the ellipses before anything was learned?",
    ),
    Lesson(
        "slippery_grid",
        "Two planners on one grid",
        [_model("ValueIteration"), _model("PolicyIteration")],
        {"sample": "small_grid"},
        (
            "Values flow from the goal, one step further in every sweep.",
            "Policy iteration solves for the values of a whole policy at once.",
            "Both end with the same policy.",
        ),
        "Raise slip: when does the robot stay away from the pit?",
    ),
    Lesson(
        "q_learning",
        "Learning by falling off",
        [_model("QLearning", n_episodes=80, max_steps=60), _model("Sarsa", n_episodes=80, max_steps=60)],
        {"sample": "cliff"},
        (
            "Q-learning and Sarsa know nothing of the world and try it.",
            "Q-learning learns the value of the best way; Sarsa that of the way it goes, slips included.",
            "The dots replay an episode.",
        ),
        "Which of the two keeps away from the cliff?",
    ),
    Lesson(
        "gaussian_process",
        "A band that narrows",
        [_model("GaussianProcessRegressor", alpha=0.05)],
        {"sample": "wave", "n": 12},
        (
            "A Gaussian process gives a curve and how sure it is of it.",
            "The band is narrow at the points and wide between them.",
            "Its length scale is chosen by the evidence.",
        ),
        "Raise n, or paint points where the band is wide.",
    ),
    Lesson(
        "gd_steps",
        "Down the loss surface",
        [_model("SGDRegressor", max_iter=30)],
        {"sample": "line", "outlier": 0.0},
        (
            "Every line is one point of the surface: its intercept and its slope.",
            "Every epoch takes a step down.",
            "The path ends at the least squared error.",
        ),
        "Set eta0 to 0.1: what does the path do?",
    ),
    Lesson(
        "beliefs",
        "Messages on a ring",
        [_model("BeliefPropagation")],
        {"sample": "ring_of_factors"},
        (
            "Every variable tells its neighbors what it believes, and hears what they believe.",
            "On a tree the beliefs are exact after one pass each way.",
            "A ring counts some evidence twice.",
        ),
        "Raise strength: how many rounds until the messages stand still?",
    ),
    Lesson(
        "topics",
        "Topics gather their words",
        [_model("LatentDirichletAllocation", n_components=3)],
        {"sample": "word_counts"},
        (
            "Every document mixes topics, and every topic prefers some words.",
            "The model sees counts alone.",
            "Watch the bars: words move to the topic where their company is.",
        ),
        "Ask for six topics where there are three.",
    ),
    Lesson(
        "films",
        "Tastes from ratings",
        [_model("MatrixFactorization", factors=2)],
        {"sample": "ratings"},
        (
            "A rating is the product of what a person likes and what a film has.",
            "Neither is known; both are learned from the ratings.",
            "The large table is their product: it has an answer for every empty cell.",
        ),
        "Use one factor: what is lost?",
    ),
    Lesson(
        "net",
        "A network bends its border",
        [_model("MLPClassifier", hidden_layer_sizes="(16,)"), _model("LogisticRegression")],
        {"sample": "moons"},
        (
            "A hidden layer makes features, and a line in them is a curve here.",
            "Logistic regression has the line alone.",
            "The trace is the loss of every epoch.",
        ),
        "Use hidden_layer_sizes (2,): can it still do it?",
    ),
    Lesson(
        "perceptron",
        "The perceptron and its mistakes",
        [_model("Perceptron")],
        {"sample": "two_clouds", "distance": 5.0},
        (
            "The perceptron moves its line whenever it is wrong about a point.",
            "If a line parts the classes, it makes finitely many mistakes.",
            "If none does, it never rests.",
        ),
        "Lower the distance until the clouds meet.",
    ),
    Lesson(
        "parts",
        "Parts of pictures",
        [_model("NMF", n_components=4), _model("PCA", n_components=4)],
        {"sample": "positive_parts"},
        (
            "Every picture is a sum of bars.",
            "NMF may only add, so it finds the bars.",
            "PCA may subtract, and finds mixtures.",
        ),
        "Ask NMF for two parts.",
    ),
    Lesson(
        "bound_calculator",
        "A bound beside its simulation",
        [_model("DeviationExperiment", epsilon=0.1)],
        {"sample": "coin"},
        (
            "The mean of n throws strays from the truth now and then.",
            "Hoeffding's inequality says how often at most, whatever the coin.",
            "The simulation says how often it did.",
        ),
        "Make the coin rarely show heads: what happens to the gap?",
    ),
    Lesson(
        "coin_bias",
        "A posterior that narrows",
        [_model("CoinPosterior"), _model("CoinPosterior", a=20.0, b=20.0)],
        {"sample": "throws"},
        (
            "Before the first throw every bias is as likely as any other, on the left.",
            "On the right, somebody is rather sure that the coin is fair.",
            "Throws move both, and in the end they agree.",
        ),
        "How many throws until the two intervals overlap for the most part?",
    ),
    Lesson(
        "forest_votes",
        "A tree beside a forest",
        [_model("DecisionTreeClassifier", max_depth=None), _model("RandomForestClassifier", n_estimators=40)],
        {"sample": "moons", "noise": 0.35},
        (
            "A tree grown to the end makes an island for every stray point.",
            "A forest lets many such trees vote, each grown from other rows and columns.",
            "The islands melt away in the vote.",
        ),
        "Set max_depth of the tree to 3: does it still need the forest?",
    ),
)
