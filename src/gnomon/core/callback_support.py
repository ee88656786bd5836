"""scikit-learn's machinery behind `set_callbacks`, part of it private: the one file that imports it.

Where it has moved, a fit runs without callbacks and says so when somebody sets one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback._callback_support import callback_management_context
except ImportError:  # pragma: no cover - tested by hiding the module

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """What a learner needs of the mixin: a place for callbacks, and a context that tells nobody."""

        def set_callbacks(self, *callbacks: Any) -> Any:
            """Say that there is nobody to call."""
            raise ImportError(
                "callbacks need scikit-learn 1.9, whose parts this version does not have: "
                "install scikit-learn>=1.9,<1.10."
            )

        def _init_callback_context(self, **options: Any) -> None:
            return None

    @contextmanager
    def callback_management_context(estimator: Any) -> Iterator[None]:
        """Do nothing around a fit."""
        yield


__all__ = ["CallbackSupportMixin", "callback_management_context"]
