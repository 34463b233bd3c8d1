"""The page in a real browser: Chromium, by Playwright."""

import shutil

import pytest

from structsvm.protocols.experiment.report import write_report
from tests.protocols.experiment.report.conftest import made_up

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    with playwright.sync_playwright() as started:
        try:
            yield started.chromium.launch(executable_path=next(filter(None, map(shutil.which, NAMES)), None))
        except playwright.Error as error:
            pytest.skip(f"there is no Chromium: {error.message.splitlines()[0]}")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_is_shown_without_errors_and_without_requests(browser, tmp_path, scheme, width):
    pytest.importorskip("matplotlib", reason="Matplotlib is not installed: reports have no plots")
    written = write_report(made_up(), tmp_path)
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    errors, requests = [], []
    page.on("console", lambda message: errors.append(message.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(written.page.as_uri())
    assert errors == []
    assert requests == [written.page.as_uri()]
    pictures = [picture.bounding_box() for picture in page.locator("svg").all()]
    assert len(pictures) == 9
    assert all(picture["width"] > 300 and picture["height"] > 80 for picture in pictures)
    assert page.locator("table:visible").count() == 9
    page.locator("summary").first.click()
    assert page.locator("table:visible").count() == 10
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    colors = page.evaluate(
        """() => [getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor,
                  getComputedStyle(document.querySelector('svg text')).fill]"""
    )
    assert colors[0] != colors[1]
    assert colors[2] == colors[0]
