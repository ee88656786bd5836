# Written by scripts/stubs from the package's `attach` call; do not edit.
from .classes import make_pattern as make_pattern
from .classification import load_toy as load_toy
from .classification import make_far_points as make_far_points
from .mixtures import make_mixture as make_mixture
from .real import load_earthquakes as load_earthquakes
from .real import load_old_faithful as load_old_faithful
from .regression import make_income as make_income
from .regression import make_omitted_variable as make_omitted_variable
from .regression import make_polynomial_curve as make_polynomial_curve
from .regression import make_sparse_regression as make_sparse_regression
from .sequence import digit_phonemes as digit_phonemes
from .sequence import load_basketball_rankings as load_basketball_rankings
from .sequence import make_casino as make_casino
from .sequence import make_season as make_season
from .sequence import make_toy_words as make_toy_words
from .sequence import make_trajectory as make_trajectory
from .sequence import toy_treebank as toy_treebank
from .tables import load_lesson as load_lesson
from .tables import make_coin_triples as make_coin_triples
from .trees import load_restaurant as load_restaurant
from .trees import make_face_patches as make_face_patches

__all__ = ["digit_phonemes", "load_basketball_rankings", "load_earthquakes", "load_lesson", "load_old_faithful", "load_restaurant", "load_toy", "make_casino", "make_coin_triples", "make_face_patches", "make_far_points", "make_income", "make_mixture", "make_omitted_variable", "make_pattern", "make_polynomial_curve", "make_season", "make_sparse_regression", "make_toy_words", "make_trajectory", "toy_treebank"]
