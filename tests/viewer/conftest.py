"""One headless Chromium for all tests of the viewer, and a fall that was recorded."""

import shutil

import pytest
from browsing import FLAGS, box_scene

import stickslip as ss


@pytest.fixture(scope="session")
def chromium():
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next((found for found in map(shutil.which, names) if found), None)
    if path is None:
        pytest.skip(f"no browser: none of {', '.join(names)} is in PATH")
    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def recordings(tmp_path_factory):
    """The same fall by two methods, 0.6 s."""
    folder = tmp_path_factory.mktemp("recordings")
    paths = []
    for method, dt in (("semi-implicit-euler", 1e-4), ("stewart-trinkle/lemke", 0.01)):
        sim = ss.Simulation(box_scene(), method, dt)
        paths.append(folder / f"{method.partition('/')[0]}.h5")
        sim.run(0.6, record=paths[-1], record_dt=0.01)
    return paths
