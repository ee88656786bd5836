"""Settings of the whole suite: reproducible properties, pictures without a screen, no deprecated calls."""

import os

os.environ.setdefault("MPLBACKEND", "Agg")  # before anything imports matplotlib

from hypothesis import HealthCheck, settings

settings.register_profile(
    "gnomon",
    deadline=None,  # a first call may compile
    derandomize=True,  # the same examples in every run
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "search", parent=settings.get_profile("gnomon"), derandomize=False, max_examples=2000
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "gnomon"))


def pytest_configure(config):
    for category in ("DeprecationWarning", "PendingDeprecationWarning", "FutureWarning"):
        config.addinivalue_line("filterwarnings", rf"error::{category}:gnomon(\..*)?")
