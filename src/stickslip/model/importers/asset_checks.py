"""Files that a model of MJCF takes its meshes, pictures and heights from: looked at before MuJoCo opens them.

MuJoCo waits for ever where a name leads to a pipe, and unpacks a picture before anybody can ask for its size: a file of
a megabyte can hold a thousand million pixels.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

from stickslip.errors import ModelError, brief
from stickslip.model.importers.xml_text import Document

MOST_PIXELS = 30_000_000
"""Pixels of a picture."""
MOST_HEIGHTS = 10_000_000
"""Cells of a height field; flat regions and edges are sought among them, in some seconds."""
FOLDERS = ("meshdir", "texturedir", "assetdir")
"""Attributes of ``<compiler>`` that say where files are."""
PNG = b"\x89PNG\r\n\x1a\n"
ASSETS = ("mesh", "hfield", "texture", "skin", "flexcomp")
"""Elements that name files other than models."""


def check_assets(documents: list[tuple[Document, Path]]) -> None:
    """Check the files that these documents name; each comes with its folder, and the first is the main one."""
    folders = {
        compiler.get(name, "")
        for document, _ in documents
        for compiler in document.root.iter("compiler")
        for name in FOLDERS
    }
    checked: set[tuple[str, Path]] = set()
    bases = dict.fromkeys(folder / below for _, folder in documents for below in ("", *sorted(folders)))
    for document, _ in documents:
        for element, name in _named(document):
            for base in bases:
                for file in {base / name, base / Path(name).name}:  # the latter with ``strippath``
                    if (element.tag, file) not in checked:
                        checked.add((element.tag, file))
                        _check_file(document, element, file)


def _named(document: Document) -> Iterator[tuple[ET.Element, str]]:
    """Elements and the names of the files in them."""
    for element in document.root.iter():
        for attribute, value in element.attrib.items() if element.tag in ASSETS else ():
            if attribute.startswith("file") and value:
                yield element, value


def _check_file(document: Document, element: ET.Element, file: Path) -> None:
    where = document.where(element)
    try:
        if file.exists() and not file.is_file() and not file.is_dir():
            raise ModelError(f"{where}: {brief(str(file), 80)} is a device or a pipe; give a file")
        if element.tag not in ("hfield", "texture") or not file.is_file():
            return
        with file.open("rb") as opened:
            head = opened.read(24)
    except (OSError, ValueError):  # MuJoCo names what it cannot open.
        return
    pixels = 0
    if head[:8] == PNG:
        pixels = int.from_bytes(head[16:20], "big") * int.from_bytes(head[20:24], "big")
    elif element.tag == "hfield":
        pixels = max(0, int.from_bytes(head[:4], "little", signed=True)) * int.from_bytes(head[4:8], "little")
    most, what = (MOST_HEIGHTS, "heights") if element.tag == "hfield" else (MOST_PIXELS, "pixels")
    if pixels > most:
        raise ModelError(
            f"{where}: expected a file of at most {most} {what}, got {pixels} in {brief(file.name, 60)}; "
            "make it coarser"
        )
