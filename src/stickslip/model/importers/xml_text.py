"""The text of a model file as an XML tree whose elements know their lines.

Python's parser is stricter than MuJoCo's. Of what it refuses, only ``--`` inside comments is common, so that comments
are blanked where it fails. Entities are refused, since MuJoCo does not read them.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any
from xml.parsers import expat

from stickslip.errors import ModelError, brief

LONGEST = 64 * 2**20
"""Bytes of a model file, without its meshes."""


Places = dict[int, tuple[int, str]]
"""Line of an element, and the name by which it is found; by the element's ``id``."""
DEEPEST = 490
"""Elements inside one another that MuJoCo's parser reads; it stops at 500, with those that wrap an include."""


class Document:
    """An XML tree, and the line of each of its elements."""

    def __init__(self, text: str, origin: str) -> None:
        self.text, self.origin = text, origin
        self.root, self._places = _parsed(text, origin)

    def where(self, element: ET.Element) -> str:
        """``robot.xml: <geom> of 'foot' (line 12)``: the name is its own, or that of the nearest element around it."""
        line, name = self._places[id(element)]
        return f"{self.origin}: <{element.tag[:40]}>{f' of {brief(name, 40)}' if name else ''} (line {line})"


def read_text(file: Path, origin: str) -> str:
    """The text of a file; one that cannot be a model is refused."""
    try:
        if file.is_dir():
            inside = sorted(p.name for p in file.iterdir() if p.suffix in (".xml", ".urdf"))
            hint = f"such as {inside[0]!r} in it" if inside else "(.xml or .urdf)"
            raise ModelError(f"{origin}: is a directory; expected a model file {hint}")
        if file.exists() and not file.is_file():
            raise ModelError(f"{origin}: is a device or a pipe; expected a model file (.xml or .urdf)")
        size = file.stat().st_size
        if size > LONGEST:
            raise ModelError(f"{origin}: has {size} bytes; expected a model file of at most {LONGEST}, meshes apart")
        data = file.read_bytes()
    except FileNotFoundError:
        raise ModelError(
            f"{origin}: no such file; expected an MJCF or URDF file (current folder: {Path.cwd()})"
        ) from None
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise ModelError(f"{origin}: cannot be read: {reason}; check its name and permissions") from None
    if not data.strip():
        raise ModelError(f"{origin}: the file is empty; expected MJCF or URDF")
    return data.decode("utf-8", "surrogateescape")


def check_text(text: str, origin: str) -> None:
    """Refuse bytes that are not UTF-8, which MuJoCo would hand on as they are; in comments they do no harm."""
    try:
        text.encode("utf-8")
        return
    except UnicodeEncodeError:
        pass
    blank = blank_comments(text)
    try:
        blank.encode("utf-8")
    except UnicodeEncodeError as error:
        line = blank.count("\n", 0, error.start) + 1
        raise ModelError(
            f"{origin}: line {line} is not UTF-8; save the file as UTF-8, or write plain letters there"
        ) from None


def blank_comments(text: str) -> str:
    """The text with spaces in the place of comments, so that lines and columns stay; in one pass."""
    parts, start = [], 0
    while (begin := text.find("<", start)) >= 0:
        parts.append(text[start:begin])
        opening, closing = next(pair for pair in _PARTS if text.startswith(pair[0], begin))
        end = _end_of_tag(text, begin) if opening == "<" else text.find(closing, begin + len(opening))
        if end < 0:
            start = begin
            break
        start = end + len(closing)
        inside = text[begin:start]
        if opening == "<!--":
            inside = "".join("\n" if letter == "\n" else " " for letter in inside)
        parts.append(inside)
    return "".join([*parts, text[start:]])


_PARTS = (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<", ">"))


def _end_of_tag(text: str, begin: int) -> int:
    """Where the tag that begins here ends: at the first ``>`` that is not inside quotes."""
    at = begin + 1
    while True:
        end = text.find(">", at)
        quotes = [quote for quote in (text.find(mark, at, end) for mark in "\"'") if quote >= 0]
        if end < 0 or not quotes:
            return end
        at = text.find(text[min(quotes)], min(quotes) + 1) + 1
        if at == 0:
            return -1


def _parsed(text: str, origin: str) -> tuple[ET.Element, Places]:
    check_text(text, origin)
    plain = text.lstrip("\ufeff \t\r\n")
    above = text[: len(text) - len(plain)].count("\n")
    try:
        return _tree(plain.encode("utf-8", "replace"), origin, above)
    except expat.ExpatError:
        pass
    try:
        return _tree(blank_comments(plain).encode("utf-8", "replace"), origin, above)
    except expat.ExpatError as error:
        reason = str(error).split(":")[0]
        raise ModelError(
            f"{origin}: broken XML at line {error.lineno + above}, column {error.offset}: {reason}; correct that line"
        ) from None


def _tree(data: bytes, origin: str, above: int) -> tuple[ET.Element, Places]:
    builder = ET.TreeBuilder()
    places: Places = {}
    names = [""]
    parser = expat.ParserCreate(encoding="utf-8")
    parser.buffer_text = True

    def start(tag: str, attributes: dict[str, str]) -> None:
        line = parser.CurrentLineNumber + above
        if len(names) > DEEPEST:
            raise ModelError(
                f"{origin}: <{tag[:40]}> (line {line}) lies inside {DEEPEST} other elements, more than MuJoCo reads; "
                "write long chains as URDF, or build them in Python"
            )
        names.append(attributes.get("name") or attributes.get("class") or names[-1])
        places[id(builder.start(tag, attributes))] = (line, names[-1])

    def end(tag: str) -> None:
        names.pop()
        builder.end(tag)

    def entity(name: str, *_: Any) -> None:
        raise ModelError(f"{origin}: declares the entity {brief(name, 40)}; entities are not read: write its text out")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.EntityDeclHandler = builder.data, entity
    parser.Parse(data, True)
    return builder.close(), places
