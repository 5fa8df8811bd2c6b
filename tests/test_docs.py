"""The pages are true: their code runs, their links lead somewhere, what they name exists, and nothing is left out."""

import json
import operator
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import matplotlib
import pytest
import typer

import stickslip
from stickslip.cli import app, main
from stickslip.methods.registry import METHODS, VARIANTS
from stickslip.model.importers.features import NAMES
from stickslip.model.scene import BUNDLED
from stickslip.record.layout import table
from stickslip.record.plot import PLOTS
from stickslip.scenes import SCENES
from stickslip.solvers.registry import SOLVERS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
LINKED = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
DESCRIBED_ELSEWHERE = {"none": "semi-implicit-euler", "paper": "expo"}
"""Variants without a page of their own, and on which page they are described."""

pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


def fences(text):
    """(language, first line, content) of every fenced block."""
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE):
        yield match[1], text[: match.start()].count("\n") + 2, match[2]


@pages
def test_python_blocks_run(page, monkeypatch, tmp_path):
    """The blocks of a page run one after another, like the cells of a notebook, in an empty folder. What they register
    is forgotten."""
    monkeypatch.chdir(tmp_path)
    for registry in (SOLVERS, METHODS, stickslip.extend.DETECTORS, stickslip.extend.FORMULATIONS):
        for name in ("my-lemke", "my-sor", "my-gauss-seidel", "waves", "hunt-crossley", "hovering"):
            monkeypatch.setitem(registry, name, None)
            monkeypatch.delitem(registry, name)
    matplotlib.use("Agg")
    view, viewers = stickslip.view, []

    def quietly(*args, **named):
        viewers.append(view(*args, **{**named, "browser": False, "block": False}))
        return viewers[-1]

    monkeypatch.setattr(stickslip, "view", quietly)
    namespace = {}
    for language, first, content in fences(page.read_text()):
        if language == "python":
            padded = "\n" * (first - 1) + content  # so that a traceback names the line of the page
            exec(compile(padded, str(page), "exec"), namespace)
    for viewer in viewers:
        viewer.close()


def test_the_public_api_has_what_the_pages_use():
    """What users catch, subclass and call is in ``stickslip`` itself."""
    assert len(set(stickslip.__all__)) == len(stickslip.__all__)
    for name in stickslip.__all__:
        assert hasattr(stickslip, name), name
    kinds = [kind for kind in vars(stickslip.errors).values() if isinstance(kind, type)]
    mine = {kind.__name__ for kind in kinds if issubclass(kind, stickslip.StickslipError | stickslip.StickslipWarning)}
    assert mine <= set(stickslip.__all__)
    assert len(stickslip.__all__) < 50
    one_dot_deeper = {"DETECTORS", "FORMULATIONS", "Detector", "Method", "Options", "make_formulation"}
    assert one_dot_deeper <= set(stickslip.extend.__all__)
    assert {"constraints", "ess", "lab", "maximal", "problem_files", "solvers"} <= set(stickslip.__all__)
    problem = stickslip.solvers.LinearProblem([[1.0]], [-1.0])
    assert stickslip.solvers.solve(problem).z == 1.0
    assert {"SolverComparison", "matrices"} <= set(vars(stickslip.lab.problems))


@pytest.mark.parametrize("name", [*stickslip.RENAMED, "methods", "extend.stepper", "lab.problems.Comparison"])
def test_old_spellings_work_and_say_what_to_write(name):
    with pytest.warns(DeprecationWarning, match="write ss") as caught:
        found = stickslip.methods() if name == "methods" else operator.attrgetter(name)(stickslip)
    assert found
    assert len(caught) == 1


@pages
def test_blocks_name_their_language(page):
    for language, first, _ in fences(page.read_text()):
        made = page.parent.name == "coming-from"  # from code that tests/test_tasks.py runs
        assert language in (("py",) if made else ("python", "text", "console", "xml", "bibtex")), f"{page.name}:{first}"


def slug(heading):
    """The anchor that a heading gets, as on GitHub."""
    plain = re.sub(r"[^\w\- ]", "", re.sub(r"`|\*", "", heading).lower())
    return plain.replace(" ", "-")


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    prose = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{page.name}: {target}"
        if anchor:
            headings = re.findall(r"^#+ (.+)$", file.read_text(), flags=re.MULTILINE)
            assert anchor in map(slug, headings), f"{page.name}: {target}"


def commands(text):
    """(command, word after it, options) of every ``stickslip`` in code spans and on the lines of blocks."""
    spans = re.findall(r"(?<!`)`([^`\n]+)`(?!`)", text)
    lines = [line for language, _, content in fences(text) if language != "python" for line in content.splitlines()]
    for code in (*spans, *lines):
        match = re.match(r"(?:\$ )?(?:\.venv/bin/|python -m )?stickslip +([a-z]\w*)(?: +([a-z][\w-]*))?", code)
        if match:
            yield *match.groups(), re.findall(r" (--[a-z][a-z-]*)", code.partition(" #")[0])


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_and_their_options_exist(page):
    known = typer.main.get_command(app).commands
    for command, following, options in commands(page.read_text()):
        where = f"{page.name}: stickslip {command} {following}"
        assert command in known, where
        found = known[command]
        if following and hasattr(found, "commands"):
            assert following in found.commands, where
            found = found.commands[following]
        names = {name for option in found.params for name in (*option.opts, *option.secondary_opts)}
        assert set(options) <= {*names, "--help"}, where


TOO_LONG = {"bench", "compare", "reproduce", "view", "warm"}
"""Commands that take long or wait for a browser; each has tests of its own."""
NOT_MADE = {"Capsules-i100-1090.hdf5", "ball-unconverged/", "my_lemke.py"}
"""Files that the pages speak of, and that no command on them makes."""
LEG = """<robot name="leg"><link name="base"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="shin"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="knee" type="continuous"><parent link="base"/><child link="shin"/></joint></robot>"""


def console(text):
    """The words of every ``stickslip`` on the lines of console blocks."""
    lines = [line for language, _, content in fences(text) if language == "console" for line in content.splitlines()]
    for line in lines:
        words = shlex.split(line.removeprefix("$ "), comments=True)
        if words[:1] == ["stickslip"] and words[1] not in TOO_LONG and not NOT_MADE & set(words):
            yield words


@pytest.mark.parametrize(
    "page",
    [page for page in LINKED if any(console(page.read_text()))],
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
@pytest.mark.filterwarnings("ignore::stickslip.errors.StickslipWarning")
def test_console_blocks_run(page, monkeypatch, tmp_path, capsys):
    """The commands of a page run one after another, for a moment of simulated time, beside the files that it names."""
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")
    text = page.read_text()
    log = stickslip.Simulation("ball", "coulomb").run(0.03, capture="problems.h5")
    for name in ("drop", "euler", "expo", "trot"):
        log.save(f"{name}.h5")
    Path("my_robot.urdf").write_text(LEG)
    for name, content in re.findall(r'Path\("(\w+\.xml)"\)\.write_text\("""(.*?)"""\)', text, flags=re.DOTALL):
        Path(name).write_text(content)
    for words in console(text):
        moment = ["--time", "0.9" if "--capture-every" in words else "0.03"] if words[1] == "run" else []
        moment += ["--quick"] if words[1] == "learn" else []
        words = [word if before != "--follow" else "ball" for before, word in zip(["", *words], words, strict=False)]
        monkeypatch.setattr(sys, "argv", [*words, *moment])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        assert not ended.value.code, f"{' '.join(words)}: {said.err}"


def test_every_method_has_a_page():
    for name in (*METHODS, *(set(VARIANTS) - set(DESCRIBED_ELSEWHERE) - set(SOLVERS))):
        assert (DOCS / "methods" / f"{name}.md").is_file(), name
    for name, page in DESCRIBED_ELSEWHERE.items():
        assert re.search(rf"`([\w-]+/)?{name}`", (DOCS / "methods" / f"{page}.md").read_text()), name


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built as by ``make docs``: a broken link, a page that is not in the navigation or an API name that is
    not found ends the build."""
    folder = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--config-file",
        ROOT / "mkdocs.yml",
        "--site-dir",
        folder,
    ]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"})
    assert done.returncode == 0, done.stderr
    return folder


def test_the_site_needs_no_network(site):
    for page in site.rglob("*.html"):
        loaded = re.findall(r'<(?:script|link|img|iframe)[^>]*?(?:src|href)="?(?:https?:)?//[^"> ]+', page.read_text())
        assert not [tag for tag in loaded if 'rel="canonical"' not in tag], page


def test_the_site_can_be_searched(site):
    index = json.loads((site / "search" / "search_index.json").read_text())
    locations = {entry["location"].partition("#")[0] for entry in index["docs"]}
    assert {page.relative_to(DOCS).with_suffix(".html").as_posix() for page in PAGES[1:]} <= locations
    assert any(entry["title"] == "add_box" for entry in index["docs"])
    assert (site / "search" / "search_index.js").is_file()  # what a page reads that is opened as a file


def test_layers_are_those_of_the_linter():
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    listed = (DOCS / "architecture.md").read_text().split("From top to bottom:")[1].split("```")[1]
    in_docs = [line.split("(")[0].strip() for line in listed.splitlines()[1:] if line.strip()]
    assert in_docs == [layer.replace("stickslip.", "") for layer in contract["layers"]]


@pytest.mark.parametrize(
    ("page", "names"),
    [("models.md", (*NAMES, *BUNDLED)), ("recordings.md", (*table(), *PLOTS)), ("scenes.md", SCENES)],
    ids=["features and robots", "fields and plots", "scenes"],
)
def test_tables_are_complete(page, names):
    text = (DOCS / page).read_text()
    for name in names:
        assert f"| `{name}`" in text, name
