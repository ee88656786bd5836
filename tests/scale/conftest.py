"""A small cluster that all tests share."""

import pytest


@pytest.fixture(scope="session")
def cluster():
    """Two worker processes; a worker that dies is replaced."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as made:
        yield made


@pytest.fixture
def client(cluster):
    import distributed

    with distributed.Client(cluster) as made:
        yield made
