"""What MkDocs does beside its own: links that lead out of docs/ lead to copies of their targets in the site.

Pages are also read in the repository, where ``../CONTRIBUTING.md``, ``../src/…/module.py`` or a folder are good links.
The site has a page for each such ``.md`` file, a text file for each other one, and the index of a folder.
"""

import posixpath
import re
from pathlib import Path

from markdown import Extension
from markdown.preprocessors import Preprocessor
from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]
LINK = re.compile(r'(\]\()([^)\s#:]+)(#[^)\s]*)?((?: "[^"]*")?\))')
SOURCES = {"README.md": "index.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
FOLDERS = {"examples": "examples.md", "docs/methods": "methods/index.md"}


def on_files(files, config):
    """Add the pages and text files that lie outside docs/."""
    for name, uri in SOURCES.items():
        if files.get_file_from_path(uri) is None:
            files.append(File.generated(config, uri, content=(ROOT / name).read_text(encoding="utf-8")))
    outside = [
        *(ROOT / "src" / "stickslip").rglob("*.py"),
        *(ROOT / "examples").glob("*.py"),
        *ROOT.glob("docs/tasks/*.py"),
    ]
    for path in outside:
        uri = f"source/{path.relative_to(ROOT).as_posix()}.txt"
        files.append(File.generated(config, uri, content=path.read_text(encoding="utf-8")))
    return files


def in_site(target: str) -> str:
    """Where a path of the repository is in the site; both are relative to their roots."""
    if target in SOURCES:
        return SOURCES[target]
    if target in FOLDERS:
        return FOLDERS[target]
    if target.endswith(".py"):
        return f"source/{target}.txt"
    return target.removeprefix("docs/")


def on_page_markdown(markdown, page, config, files):
    """Rewrite the links of a page, except in its fenced blocks."""
    uri = page.file.src_uri
    if uri.startswith("api/"):
        page.meta["search"] = {"boost": 0.5}  # pages that explain come first
    if uri.startswith("coming-from/"):
        page.meta["hide"] = ["toc"]  # two codes beside each other need the width
    original = {there: here for here, there in SOURCES.items()}.get(uri)
    folder = posixpath.dirname(original if original and uri != "index.md" else f"docs/{uri}")

    def rewrite(match):
        target = posixpath.normpath(posixpath.join(folder, match[2]))
        there = posixpath.relpath(in_site(target), posixpath.dirname(uri) or ".")
        return f"{match[1]}{there}{match[3] or ''}{match[4]}"

    parts = re.split(r"(^```.*?^```$)", markdown, flags=re.DOTALL | re.MULTILINE)
    return "".join(part if part.startswith("```") else LINK.sub(rewrite, part) for part in parts)


class Examples(Preprocessor):
    """Make fenced blocks of the examples of docstrings, lines that begin with ``>>>`` or ``...``."""

    def run(self, lines):
        inside, result = False, []
        for line in lines:
            example = line.startswith((">>>", "..."))
            if example != inside:
                result.append("```python" if example else "```")
            inside = example
            result.append(line[4:] if example else line)
        return [*result, "```"] if inside else result


class ExamplesExtension(Extension):
    def extendMarkdown(self, md):
        md.preprocessors.register(Examples(md), "examples", 100)  # before fenced blocks are found


def on_config(config):
    config.markdown_extensions.append(ExamplesExtension())
    return config
