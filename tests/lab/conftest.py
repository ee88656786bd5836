import pytest

pytest.importorskip("starlette", reason="the lab needs the extra: pip install 'gnomon[lab]'")

from starlette.testclient import TestClient

from gnomon.lab.server import Lab, application


@pytest.fixture(scope="session")
def lab():
    return Lab("a token for tests, long enough")


@pytest.fixture(scope="session")
def client(lab):
    with TestClient(
        application(lab), base_url="http://127.0.0.1:8765", headers={"x-gnomon-token": lab.token}
    ) as client:
        yield client
