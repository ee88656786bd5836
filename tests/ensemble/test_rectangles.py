"""Integral images, rectangle features, the cascade and the detector."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon import load, save
from gnomon.core.errors import DataError, DegenerateError, ModelFileError
from gnomon.datasets import make_face_patches
from gnomon.ensemble import CascadeClassifier, HaarFeatures, ObjectDetector, integral_image
from gnomon.ensemble.rectangles import rectangle_sum

IMAGE = np.arange(1.0, 21).reshape(4, 5)


def test_number_of_features():
    names, counts = np.unique(HaarFeatures(24).kinds_, return_counts=True)
    assert dict(zip(names, counts)) == {"2h": 43_200, "2v": 43_200, "3h": 27_600, "3v": 27_600, "4": 20_736}
    small = HaarFeatures(4)
    assert small.n_features_ == 136
    assert [int((small.kinds_ == k).sum()) for k in ("2h", "2v", "3h", "3v", "4")] == [40, 40, 20, 20, 16]


def test_integral_image_by_hand():
    ii = integral_image(IMAGE)
    assert ii[-1].tolist() == [0, 34, 72, 114, 160, 210]
    assert rectangle_sum(ii, 1, 1, 2, 3) == 63


def value(kind, top, left, height, width):
    haar = HaarFeatures(5, (kind,))
    patch = np.zeros((5, 5))
    patch[:4] = IMAGE
    spans = haar.boxes_[:, :, [0, 1]].min(axis=1, initial=99, where=haar.boxes_[:, :, 4:] != 0)
    sums = np.abs(haar.boxes_[:, :, 4])
    ends = (haar.boxes_[:, :, :2] + haar.boxes_[:, :, 2:4]) * sums[:, :, None]
    sizes = ends.max(axis=1) - spans
    at = np.flatnonzero((spans == (top, left)).all(axis=1) & (sizes == (height, width)).all(axis=1))[0]
    return haar.transform(patch[None], normalize=False)[0, at]


def test_features_by_hand():
    assert value("2h", 0, 0, 2, 4) == 8
    assert value("2v", 0, 0, 4, 2) == 40
    assert value("3h", 0, 0, 1, 3) == -2
    assert value("4", 0, 0, 2, 2) == 0


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 6), st.integers(0, 6), st.integers(0, 5), st.integers(0, 5))
def test_rectangle_sums_are_direct_sums(seed, top, left, height, width):
    image = np.random.default_rng(seed).normal(size=(12, 12))
    direct = image[top : top + height, left : left + width].sum()
    assert rectangle_sum(integral_image(image), top, left, height, width) == pytest.approx(direct, abs=1e-10)


@pytest.mark.parametrize("side", [5, 8])  # 306 features, and 2056: more than one block of them
def test_a_drawn_feature_is_its_weights(side):
    haar, patches = HaarFeatures(side), np.random.default_rng(0).normal(size=(3, side, side))
    drawn = np.array([haar.draw(k) for k in range(haar.n_features_)])
    np.testing.assert_allclose(
        haar.transform(patches, normalize=False), np.einsum("nij,fij->nf", patches, drawn), atol=1e-12
    )
    scale = patches.std(axis=(1, 2))[:, None]
    np.testing.assert_allclose(haar.transform(patches) * scale, haar.transform(patches, normalize=False))
    assert haar.transform(np.ones((1, side, side))).max() <= side**2  # a flat patch is not divided


def test_balanced_features_ignore_a_constant():
    rng = np.random.default_rng(0)
    haar = HaarFeatures(8, ("2h", "2v", "4"))
    patches = rng.normal(size=(5, 8, 8))
    a, b = (haar.transform(p, normalize=False) for p in (patches, patches + 3.0))
    assert a == pytest.approx(b, abs=1e-9)


def test_rates_of_ten_stages_multiply():
    assert 0.99**10 == pytest.approx(0.9043821, abs=1e-6)
    assert 0.30**10 == pytest.approx(5.9049e-6)


def test_cascade_keeps_faces_and_its_prefixes_are_nested():
    X, y = make_face_patches(400, window=12, random_state=0)
    model = CascadeClassifier(window=12, max_stages=4, stage_false_positive=0.2).fit(X, y)
    alive = model.survivors(X)
    assert (alive[1:] <= alive[:-1]).all()
    faces, others = y == 1, y == 0
    rates = np.cumprod(model.stage_rates_, axis=0)
    assert alive[-1][others].mean() == pytest.approx(rates[-1, 1], abs=1e-9)
    assert alive[-1][faces].mean() >= 0.99 ** len(model.stages_) - 0.02
    test, labels = make_face_patches(400, window=12, random_state=1)
    assert (model.predict(test) == labels).mean() > 0.9


def test_negatives_are_mined_from_backgrounds():
    X, y = make_face_patches(200, window=12, random_state=0)
    rng = np.random.default_rng(0)
    scenes = [np.clip(rng.normal(0.5, 0.2, (40, 40)), 0, 1) for _ in range(3)]
    model = CascadeClassifier(window=12, max_stages=3, random_state=0).fit(X, y, scenes)
    assert len(model.stages_) >= 1


def test_detector_finds_a_face_at_two_sizes():
    X, y = make_face_patches(600, window=12, random_state=0)
    cascade = CascadeClassifier(window=12, max_stages=4, stage_false_positive=0.2).fit(X, y)
    face = np.mean(X[y == 1], axis=0)
    for size in (12, 24):
        image = np.full((60, 60), 0.4) + np.random.default_rng(1).normal(0, 0.01, (60, 60))
        image[20 : 20 + size, 30 : 30 + size] = np.kron(face, np.ones((size // 12, size // 12)))
        detector = ObjectDetector(cascade, min_neighbors=1)
        boxes, scores = detector.detect(image)
        best = boxes[scores.argmax()]
        center, truth = best[:2] + best[2] / 2, np.array([20, 30]) + size / 2
        assert np.abs(center - truth).max() <= size / 3
        assert best[2] == pytest.approx(size, rel=0.5)
        drawn = [
            [patch.get_y(), patch.get_x(), patch.get_height(), patch.get_width()]
            for patch in detector.plot(image).patches
        ]
        np.testing.assert_array_equal(drawn, boxes)


def test_windows_have_the_scores_of_their_patches():
    from gnomon.ensemble.cascade import stage_scores

    cascade, X, _ = small_cascade(stage_false_positive=0.2)
    image = np.random.default_rng(0).normal(size=(14, 15))
    image[2:10, 3:11] = X[0]
    detector = ObjectDetector(cascade, scale_factor=100.0, step=1.0, min_neighbors=1)
    detector._merge = lambda found: found  # every window that passes
    places = [(top, left) for top in range(7) for left in range(8)]
    patches = np.array([image[top : top + 8, left : left + 8] for top, left in places])
    alive = cascade.survivors(patches)[-1]
    last = stage_scores(cascade.stages_[-1], patches)
    wanted = [[*place, 8, score] for place, score, passed in zip(places, last, alive) if passed]
    assert 0 < len(wanted) < len(places)
    np.testing.assert_allclose(detector.detect(image), wanted)


def small_cascade(**options):
    X, y = make_face_patches(120, window=8, random_state=0)
    return CascadeClassifier(window=8, max_stages=2, max_rounds=5, **options).fit(X, y), X, y


def test_a_saved_cascade_is_taken_up_only_with_rectangles_in_its_window(tmp_path):
    model, X, _ = small_cascade()
    save(model, tmp_path / "sound")
    assert (load(tmp_path / "sound").predict(X) == model.predict(X)).all()
    stage = model.stages_[0]
    far, before = stage.boxes.copy(), stage.boxes.copy()
    far[0, 0, :4] = [1, 1, 8, 1]
    before[0, 0, 1] = -1
    for broken in (
        stage._replace(boxes=far),
        stage._replace(boxes=before),
        stage._replace(boxes=stage.boxes[:-1]),
        stage._replace(lefts=stage.lefts[:-1]),
        stage._replace(alphas=stage.alphas[:-1]),
    ):
        model.stages_ = [broken, *model.stages_[1:]]
        save(model, tmp_path / "broken")
        with pytest.raises(ModelFileError, match="rectangles outside of its window"):
            load(tmp_path / "broken")


def test_patches_that_cannot_be_learned_from_are_refused():
    X, y = make_face_patches(20, window=8, random_state=0)
    model = CascadeClassifier(window=8, max_stages=1)
    hole = X.copy()
    hole[3, 0, 0] = np.nan
    for patches, labels, words in (
        (X, y[:-1], "20 patches and 19 labels"),
        (X, np.arange(20) % 3, "two classes"),
        (X[:11], [0] + [1] * 10, "two negatives at least"),
        (X[:, :7], y, "patches of 8 x 8 pixels"),
        (X[:, 0], y, "patches of 8 x 8 pixels"),
        (hole, y, "NaN or infinity"),
        ([["a"]], [1], "patches of numbers"),
    ):
        with pytest.raises(DataError, match=words):
            model.fit(patches, labels)
    flat = model.fit(X.reshape(20, 64), y)
    assert (flat.predict(X) == model.fit(X, y).predict(X)).all()
    with pytest.raises(DegenerateError, match="better than chance"):
        model.fit(np.zeros((6, 8, 8)), [0, 1, 0, 1, 0, 1])


@pytest.mark.parametrize("share", [1e-12, 0.5, 0.9, 1.0])
def test_a_stage_keeps_the_share_of_objects_that_is_asked(share):
    model, X, y = small_cascade(stage_detection=share, stage_false_positive=0.01)
    first = model.survivors(X)[0]
    assert model.stage_rates_[0] == pytest.approx([first[y == 1].mean(), first[y == 0].mean()])
    assert first[y == 1].mean() >= share
    assert model.trace_["detection"][0] == model.stage_rates_[0, 0]
    assert np.asarray(model.trace_) == pytest.approx(np.cumprod(model.stage_rates_[:, 1]))


def test_boxes_that_overlap_are_one_group_around_their_best():
    class Found(ObjectDetector):
        def __init__(self, boxes, **options):
            super().__init__(None, **options)
            self.boxes = np.array(boxes, dtype=float)

        def merged(self):
            return self._merge(self.boxes)

    # 4 of 10 x 10: two shifted by 1 (union 110, inner 90), one shifted by 5 (150, 50), one far away
    boxes = [[0, 0, 10, 1.0], [1, 0, 10, 3.0], [6, 0, 10, 2.0], [50, 50, 10, 0.5]]
    places, scores = Found(boxes, min_neighbors=1).merged()
    assert places.tolist() == [[0.5, 0, 10, 10], [6, 0, 10, 10], [50, 50, 10, 10]] and scores.tolist() == [
        3,
        2,
        0.5,
    ]
    places, scores = Found(boxes, min_neighbors=2).merged()
    assert places.tolist() == [[0.5, 0, 10, 10]] and scores.tolist() == [3.0]
    nothing = Found(boxes, min_neighbors=3).merged()
    assert nothing[0].shape == (0, 4) and nothing[1].shape == (0,)
