import shutil

import pytest

pytest.importorskip("starlette", reason="the lab needs the extra: pip install 'gnomon[lab]'")

from starlette.testclient import TestClient

from gnomon.lab.application import Lab, application


@pytest.fixture(scope="session")
def lab():
    return Lab("a token for tests, long enough")


@pytest.fixture(scope="session")
def client(lab):
    with TestClient(
        application(lab), base_url="http://127.0.0.1:8765", headers={"x-gnomon-token": lab.token}
    ) as client:
        yield client


@pytest.fixture(scope="session")
def browser():
    """Chromium, driven by Playwright; what needs it is skipped where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="no Playwright: pip install 'gnomon[dev]'")
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("no Chromium on the path: on Debian, apt-get install chromium")
    with playwright.sync_playwright() as started:
        try:
            made = started.chromium.launch(executable_path=found, args=["--no-sandbox"])
        except playwright.Error as error:
            pytest.skip(f"Chromium is installed but does not start here: {str(error)[:80]}")
        yield made
        made.close()
