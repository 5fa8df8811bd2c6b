"""The page in a browser: it loads nothing, links lead somewhere, sorting and switches work, it fits a phone."""

import shutil

import pytest
from made_up_comparison import made_up, recorded

from stickslip.lab.compare.report import write_report

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="module")
def browser():
    if BROWSER is None:
        pytest.skip("no Chromium in PATH")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    made = write_report(made_up(), folder / "made_up.html")
    return {"made up": made, "recorded": write_report(recorded(folder), folder / "recorded.html", pictures=1)}


@pytest.fixture
def open_page(browser, files):
    """A function (name, **options of the page) → page; trouble and requests are collected on it."""
    opened = []

    def open_it(name, **options):
        page = browser.new_page(**options)
        page.trouble, page.asked = [], []
        page.on("console", lambda message: page.trouble.append(message.text))
        page.on("pageerror", lambda error: page.trouble.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(files[name].as_uri())
        opened.append(page)
        return page

    yield open_it
    for page in opened:
        page.close()


@pytest.mark.parametrize("name", ["made up", "recorded"])
def test_page_needs_nothing_and_links_work(open_page, files, name):
    page = open_page(name)
    assert [url for url in page.asked if not url.startswith("data:")] == [files[name].as_uri()]
    assert page.trouble == []
    links = page.eval_on_selector_all("a[href]", "all => all.map(a => a.getAttribute('href'))")
    assert len(links) > 20
    for link in links:
        assert link.startswith("#"), "nothing leads out of the page"
        assert page.evaluate("id => document.getElementById(id) !== null", link[1:]), link
    ids = page.eval_on_selector_all("[id]", "all => all.map(e => e.id)")
    assert len(ids) == len(set(ids))
    assert page.evaluate("[...document.images].every(image => image.naturalWidth > 0)")
    page.click("nav a[href='#citations']")
    for _ in range(50):  # it scrolls smoothly
        if page.evaluate("document.querySelector('#citations').getBoundingClientRect().top < innerHeight"):
            break
        page.wait_for_timeout(50)
    else:
        pytest.fail("the link did not lead to the citations")


def shown(page, column):
    """Texts of a column of the visible rows."""
    rows = "[...document.querySelectorAll('#scores tbody tr')].filter(r => r.offsetParent !== null)"
    return page.evaluate(f"{rows}.map(r => r.cells[{column}].textContent.trim())")


def test_scorecard_sorts_and_shows_all_steps(open_page):
    page = open_page("made up")
    labels = ["quick", "both", "exact", '<script>alert("x")</script>']
    assert shown(page, 0) == labels
    heads = page.eval_on_selector_all("#scores thead th button", "all => all.map(b => b.textContent)")
    factor = next(k for k, text in enumerate(heads) if "real" in text)
    button = page.locator("#scores thead th button").nth(factor)
    button.click()
    assert shown(page, 0) == ["exact", "both", "quick", labels[3]], "slowest first, no figure last"
    assert page.locator("#scores th[aria-sort=ascending]").count() == 1
    button.click()
    assert shown(page, 0) == ["quick", "both", "exact", labels[3]]
    page.click("button[data-rows=all]")
    assert len(shown(page, 0)) == 7
    assert shown(page, 1)[:3] == ["10\u202fms", "10\u202fms", "1\u202fms"]


def test_methods_are_switched_off_everywhere(open_page):
    page = open_page("recorded")
    lines = page.locator(".chart .line.e1:visible")
    before, others = lines.count(), page.locator(".chart .line.e0:visible").count()
    assert before >= 6
    page.click("button.chip[data-e='1']")
    assert lines.count() == 0
    assert page.locator(".chart .line.e0:visible").count() == others
    page.click("button.chip[data-e='1']")
    assert lines.count() == before


def test_values_under_the_pointer(open_page):
    page = open_page("recorded", viewport={"width": 1400, "height": 900})
    chart = page.locator("#time .chart").first
    chart.scroll_into_view_if_needed()
    chart.hover()
    tip = page.locator("#tip")
    assert tip.is_visible()
    for label in ("expo", "stewart-trinkle/lemke", "reference"):
        assert label in tip.inner_text()
    point = page.locator("#precision .point").first
    point.focus()
    assert "dt =" in tip.inner_text()


def test_light_and_dark(open_page):
    ground = "getComputedStyle(document.body).backgroundColor"
    light, dark = (open_page("made up", color_scheme=scheme) for scheme in ("light", "dark"))
    assert sum(map(int, light.evaluate(ground)[4:-1].split(","))) > 700
    assert sum(map(int, dark.evaluate(ground)[4:-1].split(","))) < 100


@pytest.mark.parametrize("width", [360, 800, 1600])
def test_page_fits_the_screen(open_page, width):
    page = open_page("recorded", viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
