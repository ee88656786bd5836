"""The command line, for tests of what stands behind it."""

from cli.conftest import flowers, gnomon

__all__ = ["flowers", "gnomon"]
