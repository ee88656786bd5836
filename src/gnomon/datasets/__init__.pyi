# Written by scripts/stubs from the package's `attach` call; do not edit.
from .classes import make_pattern as make_pattern
from .demos import demonstrations as demonstrations
from .documents import make_news as make_news
from .external import load_external as load_external
from .mixtures import make_mixture as make_mixture
from .networks import load_network as load_network
from .neural import make_copy_task as make_copy_task
from .ratings import make_ratings as make_ratings
from .real import load_earthquakes as load_earthquakes
from .real import load_old_faithful as load_old_faithful
from .regression import make_polynomial_curve as make_polynomial_curve
from .regression import make_sparse_regression as make_sparse_regression
from .sequence import load_basketball_rankings as load_basketball_rankings
from .sequence import make_casino as make_casino
from .sequence import make_season as make_season
from .sequence import make_toy_words as make_toy_words
from .sequence import make_trajectory as make_trajectory
from .simulated import make_images as make_images
from .simulated import make_series as make_series
from .simulated import make_text as make_text
from .table_kinds import make_table as make_table
from .tables import load_lesson as load_lesson
from .trees import load_restaurant as load_restaurant
from .trees import make_face_patches as make_face_patches

__all__ = ["demonstrations", "load_basketball_rankings", "load_earthquakes", "load_external", "load_lesson", "load_network", "load_old_faithful", "load_restaurant", "make_casino", "make_copy_task", "make_face_patches", "make_images", "make_mixture", "make_news", "make_pattern", "make_polynomial_curve", "make_ratings", "make_season", "make_series", "make_sparse_regression", "make_table", "make_text", "make_toy_words", "make_trajectory"]
