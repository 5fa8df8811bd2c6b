"""What MuJoCo must not meet in a model file: looked for in the XML before MuJoCo reads it.

MuJoCo expands ``<replicate>`` and ``<flexcomp>``, allocates height fields and textures, and follows includes and
attached models before anybody can ask for their size; it takes ``nan`` and ``inf`` for numbers, and a ``%`` in the name
of a default class makes it crash. All of these are errors here, which name the file, the element and its line. Files
that are included or attached are checked as the main file is.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from stickslip.errors import ModelError, brief
from stickslip.model.importers.asset_checks import MOST_HEIGHTS, MOST_PIXELS, check_assets
from stickslip.model.importers.xml_text import Document, read_text

MOST_COPIES = 6000
"""Elements that ``<replicate>`` may make in all. MuJoCo's time grows with their square, to some seconds here."""
MOST_POINTS = 2000
"""Points of a ``<flexcomp>``."""
MOST_CORNERS = 300
"""Corners along each side of a mesh that MuJoCo makes."""
MOST_FILES, MOST_LEVELS = 200, 20
"""Files that a model may include or attach, and how many may lead from one to the next."""
MOST_ELEMENTS = 300_000
"""Elements of a model with all that is attached to it."""
LONGEST_NAME = 250
"""Letters of a file's name, which file systems allow."""
TEXT = frozenset({
    "name", "class", "childclass", "file", "filename", "filefront", "fileback", "fileleft", "fileright", "fileup",
    "filedown", "link", "joint", "joint1", "joint2", "jointinparent", "body", "body1", "body2", "bodyname", "geom",
    "geom1", "geom2", "site", "site1", "site2", "sidesite", "refsite", "cranksite", "slidersite", "tendon", "tendon1",
    "tendon2", "actuator", "material", "mesh", "hfield", "texture", "target", "objname", "refname", "prefix", "model",
    "plugin", "instance", "key", "assetdir", "meshdir", "texturedir", "subtree1", "subtree2", "flex", "skin", "camera",
    "light", "dclass", "content_type", "node", "root", "parent", "child", "data",
})  # fmt: skip
"""Attributes whose value is a word or a list of words."""
FILES = tuple(sorted(name for name in TEXT if name.startswith("file")))
SIZES = {
    "iterations": 100_000, "ls_iterations": 1000, "noslip_iterations": 10_000, "ccd_iterations": 10_000,
    "mpr_iterations": 10_000, "sdf_iterations": 1000, "sdf_initpoints": 1000, "nuser_body": 1000, "nuser_jnt": 1000,
    "nuser_geom": 1000, "nuser_site": 1000, "nuser_cam": 1000, "nuser_tendon": 1000, "nuser_actuator": 1000,
    "nuser_sensor": 1000, "nkey": 1000, "nuserdata": 1_000_000, "njmax": 10_000_000, "nconmax": 10_000_000,
    "nstack": 1_000_000_000, "nsample": 100_000, "actdim": 1000, "dim": 100_000, "num": 1000, "octree_maxdepth": 12,
    "subdivisions": 6,
}  # fmt: skip
"""Attributes that MuJoCo makes arrays or loops of, and their largest value."""


class Size(NamedTuple):
    """An element whose attributes multiply."""

    tags: tuple[str, ...]
    attributes: tuple[str, ...]
    what: str
    most: int


PRODUCTS = (
    Size(("flexcomp",), ("count",), "points", MOST_POINTS),
    Size(("flexcomp",), ("cellcount",), "cells", MOST_POINTS),
    Size(("hfield",), ("nrow", "ncol"), "heights", MOST_HEIGHTS),
    Size(("texture",), ("width", "height"), "pixels", MOST_PIXELS),
    Size(("camera",), ("resolution",), "pixels", MOST_PIXELS),
    Size(("numeric",), ("size",), "numbers", 1_000_000),
    Size(("mesh",), ("params",), "parts", 100_000),
)


def check_model(document: Document, folder: Path) -> None:
    """Check a model of MJCF and all files that it includes or attaches; ``folder`` is that of the main file."""
    checks = _Checks(folder)
    checks.elements(document, folder, ())
    check_assets(checks.documents)


class _Checks:
    """A walk over a file and those that it needs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sizes: dict[Path, int] = {}
        """The number of elements of each file that was read."""
        self.documents: list[tuple[Document, Path]] = []
        """All that was read, each with its folder."""

    def elements(self, document: Document, folder: Path, above: tuple[Path, ...]) -> int:
        """Check a file; returns the number of its elements with all copies of them. ``above`` are the files that lead
        here."""
        self.documents.append((document, folder))
        count = check_document(document)
        models = {}
        for element, file in self._further_files(document, folder):
            place = document.where(element)
            if file in above or len(above) > MOST_LEVELS:
                raise ModelError(
                    f"{place}: {brief(file.name, 60)} includes itself, or too deep a chain of files; cut it"
                )
            if len(self.sizes) >= MOST_FILES:
                raise ModelError(f"{place}: expected at most {MOST_FILES} included files; put them into fewer")
            if file not in self.sizes:
                inner = Document(read_text(file, str(file)), str(file))
                self.sizes[file] = self.elements(inner, file.parent, (*above, file))
            if element.tag == "include":
                count += self.sizes[file]
            else:
                models[element.get("name") or file.stem] = self.sizes[file]
        for element, times in _walk(document.root):
            if element.tag == "attach":
                count += times * models.get(element.get("model", ""), max(models.values(), default=0))
                if count > MOST_ELEMENTS:
                    raise ModelError(
                        f"{document.where(element)}: models are attached so often that there are more than "
                        f"{MOST_ELEMENTS} elements; attach fewer"
                    )
        return count

    def _further_files(self, document: Document, folder: Path) -> Iterator[tuple[ET.Element, Path]]:
        """Files that a document includes or attaches. MuJoCo looks for them beside the main file, and beside the one
        that names them; it tells of those that are in neither place."""
        for element in document.root.iter():
            if element.tag not in ("include", "model") or not element.get("file"):
                continue
            for base in dict.fromkeys((self.folder, folder)):
                file = base / element.get("file", "")
                if file.is_file():
                    yield element, file.resolve()
                elif file.exists():
                    raise ModelError(f"{document.where(element)}: {brief(str(file), 80)} is no file; give an XML file")


def check_robot(document: Document) -> None:
    """Check the links and joints of a URDF; what other programs keep in it is not looked at."""
    for element in [*document.root.findall("link"), *document.root.findall("joint")]:
        _check_elements(document, element)


def check_document(document: Document) -> int:
    """Check the elements of one file of MJCF; returns their number, with copies."""
    return _check_elements(document, document.root)


def _check_elements(document: Document, top: ET.Element) -> int:
    count = copies = 0
    for element, times in _walk(top):
        for attribute, value in element.attrib.items():
            _check_value(document, element, attribute, value)
        if element.tag == "model" and element.get("file") is None:  # MuJoCo would wait for ever at the next such file
            raise ModelError(f"{document.where(element)}: expected a model with a file, got none; name its MJCF file")
        for size in PRODUCTS:
            if element.tag in size.tags:
                _check_product(document, element, size)
        if element.tag == "mesh" and _whole(element.get("params", "")) > MOST_CORNERS and _is_grid(element):
            where = document.where(element)
            raise ModelError(f"{where}: expected params that begin with at most {MOST_CORNERS}; lower the first")
        count += times
        copies += times if times > 1 else 0
        if copies > MOST_COPIES:
            raise ModelError(
                f"{document.where(element)}: <replicate> makes more than {MOST_COPIES} elements; lower its count"
            )
    return count


def _walk(root: ET.Element) -> Iterator[tuple[ET.Element, int]]:
    """Each element, and how often ``<replicate>`` makes it."""
    waiting = [(root, 1)]
    while waiting:
        element, times = waiting.pop()
        yield element, times
        if element.tag == "replicate":
            times = min(times * max(1, _whole(element.get("count", "1"))), 10**12)
            yield element, times  # a count without content costs time, too
        waiting += [(child, times) for child in reversed(element)]


def _is_grid(element: ET.Element) -> bool:
    """Whether a mesh that MuJoCo makes has the square of its first number of corners."""
    return element.get("builtin", "").startswith("super")


def _check_value(document: Document, element: ET.Element, attribute: str, value: str) -> None:
    where = document.where(element)
    if attribute in ("class", "childclass") and "%" in value:
        raise ModelError(f"{where}: expected a {attribute} without %, got {brief(value, 60)}; rename the class")
    if attribute in FILES:
        _check_file_name(where, attribute, value)
    if attribute in SIZES and _whole(value) > SIZES[attribute]:
        raise ModelError(f"{where}: expected {attribute} ≤ {SIZES[attribute]}, got {brief(value, 40)}; lower it")
    if attribute in TEXT and not (attribute == "data" and element.tag != "text"):
        return
    if attribute == "velocity" and element.tag == "limit":  # of a URDF's joint; nobody reads it
        return
    for word in value.split():
        try:
            fine = math.isfinite(float(word)) and word.isascii() and "_" not in word  # Python reads 1_0 and ١, too
        except ValueError:
            fine = not word.lower().lstrip("+-").startswith(("nan", "inf"))
        if not fine:
            raise ModelError(
                f"{where}: expected finite numbers for {attribute}, got {brief(value, 60)}; correct it or leave it out"
            )


def _check_file_name(where: str, attribute: str, value: str) -> None:
    longest = max((len(part.encode()) for part in value.split("/")), default=0)
    if longest > LONGEST_NAME:
        raise ModelError(
            f"{where}: expected a file name of at most {LONGEST_NAME} bytes for {attribute}, got {longest}"
        )
    if value.startswith(("/dev/", "/proc/", "/sys/")):
        raise ModelError(f"{where}: {brief(value, 60)} is a device; give a file for {attribute}")


def _check_product(document: Document, element: ET.Element, size: Size) -> None:
    numbers = [_whole(word) for name in size.attributes for word in element.get(name, "").split()]
    product = math.prod(max(1, number) for number in numbers)
    if product > size.most:
        given = " ".join(f'{name}="{element.get(name)}"' for name in size.attributes if name in element.attrib)
        raise ModelError(
            f"{document.where(element)}: expected at most {size.most} {size.what}, got {brief(given, 60)}; lower it"
        )


def _whole(text: str) -> int:
    """The number that a text begins with, as MuJoCo reads it; 0 if there is none."""
    try:
        number = float(text.split()[0])
    except (ValueError, IndexError):
        return 0
    return int(min(max(number, -1e18), 1e18)) if not math.isnan(number) else 0
