"""Mutations of model files: by structure (elements, attributes, numbers) and by bytes,
with a dictionary of nasty tokens."""

from __future__ import annotations

import copy
import random
import re
import xml.etree.ElementTree as ET
from functools import cache

NUMBERS = (
    "0", "-0", "1", "-1", "1e-300", "5e-324", "-1e-9", "1e-6", "1e3", "1e6", "-1e6", "1e9", "1e12", "1e15", "1e30",
    "1e38", "1e39", "1e154", "1e300", "-1e300", "1e308", "1e309", "-1e309", "nan", "-nan", "NaN", "inf", "-inf",
    "Infinity",
    "2147483647", "2147483648", "-2147483648", "4294967296", "9223372036854775808", "99999999999999999999999999",
    "0x10", "1e", ".", "1,5", "1_000", "١", "1e-5000", "1e5000",
)  # fmt: skip
WORDS = (
    "", " ", "%s%s%s%s%s%s", "%n%n%n%n", "%p", "%", "%99999999d", "a" * 300, "a" * 5000, "é", "\u202e", "名" * 120,
    "world", "root", "true", "false", "auto", "none", "http://[x", "file://[x/a.stl", "package://", "package:///x.stl",
    "../../../../etc/passwd", "/dev/zero", "/", ".", "/dev/stdin", "a/b", "a\\b", "'", "${x}", "&#0;", "-", "/",
    "nan", "inf",
    "whole.xml", "part.xml", "other.xml", "x" * 300 + ".stl", "data:,", "0 0 0", "1 2", "1 " * 400, "name\nwith line",
)  # fmt: skip
BYTES = (
    b"<", b">", b"/>", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<?", b"?>", b"<!DOCTYPE a [<!ENTITY b 'c'>]>",
    b"&b;", b"&",
    b"&#37;n", b"&#xFFFFFFFF;", b"\0", b"\xff\xfe", b"\xe9", b"\xef\xbb\xbf", b"\xed\xa0\x80", b'"', b"'", b"%n%s",
    b"<geom/>", b"<body>", b"</body>", b"<mujoco>", b"</mujoco>", b"<robot/>", b"<? ?>" * 24, b"<!--" * 800,
    b"nan", b"1e999",
    b"\n", b" " * 1000, b"<a>" * 300, b"xmlns:x='y'", b"<x:y/>",
)  # fmt: skip


@cache
def schema() -> dict[str, tuple[str, ...]]:
    """The attributes of every element of MJCF, from MuJoCo, and those of URDF."""
    import mujoco

    found: dict[str, set[str]] = {}
    tag = ""
    for line in mujoco.mj_printSchema(False, False).splitlines():
        match = re.match(r"\s*(\w+) \(.\)\s*(.*)", line)
        tag, rest = (match.group(1), match.group(2)) if match else (tag, line)
        found.setdefault(tag, set()).update(rest.split())
    urdf = {
        "robot": ("name",), "link": ("name",), "joint": ("name", "type"), "mass": ("value",), "parent": ("link",),
        "inertia": ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), "origin": ("xyz", "rpy"), "axis": ("xyz",),
        "limit": ("lower", "upper", "effort", "velocity"), "dynamics": ("damping", "friction"), "child": ("link",),
        "mimic": ("joint", "multiplier", "offset"), "mesh": ("filename", "scale"), "cylinder": ("radius", "length"),
        "sphere": ("radius",), "box": ("size",), "inertial": (), "collision": (), "geometry": (),
    }  # fmt: skip
    for name, attributes in urdf.items():
        found.setdefault(name, set()).update(attributes)
    return {name: tuple(sorted(attributes)) for name, attributes in found.items()}


def nasty(rng: random.Random) -> str:
    """A value for an attribute: a token, several numbers, or an ordinary number."""
    kind = rng.random()
    if kind < 0.4:
        return rng.choice(NUMBERS)
    if kind < 0.6:
        return rng.choice(WORDS)
    count = rng.choice((1, 1, 2, 3, 3, 4, 6, 7, 10))
    return " ".join(rng.choice(NUMBERS) if rng.random() < 0.2 else f"{rng.gauss(0, 1):.3g}" for _ in range(count))


def _one_number(rng: random.Random, value: str) -> str:
    """The value with one of its words replaced, scaled, left out or written twice."""
    words = value.split() or [""]
    k = rng.randrange(len(words))
    choice = rng.random()
    if choice < 0.5:
        words[k] = rng.choice(NUMBERS)
    elif choice < 0.7:
        try:
            words[k] = f"{float(words[k]) * rng.choice((-1, 0, 1e-9, 1e-3, 10, 1e3, 1e6, 1e9)):g}"
        except ValueError:
            words[k] = rng.choice(WORDS)
    elif choice < 0.85:
        del words[k]
    else:
        words.insert(k, words[k])
    return " ".join(words)


def mutate_tree(rng: random.Random, root: ET.Element) -> None:
    """One mutation of structure."""
    elements = list(root.iter())
    parents = {child: parent for parent in elements for child in parent}
    element = rng.choice(elements)
    choice = rng.random()
    if choice < 0.45 and element.attrib:
        key = rng.choice(sorted(element.attrib))
        old = element.attrib[key]
        element.attrib[key] = _one_number(rng, old) if rng.random() < 0.6 else nasty(rng)
    elif choice < 0.6:
        known = schema().get(element.tag) or ("name",)
        element.attrib[rng.choice(known)] = nasty(rng)
    elif choice < 0.65 and element.attrib:
        del element.attrib[rng.choice(sorted(element.attrib))]
    elif choice < 0.75 and element in parents:
        parents[element].remove(element)
    elif choice < 0.82 and element in parents:
        rng.choice(elements).append(_copy(element))
    elif choice < 0.87 and element in parents:
        parents[element].insert(0, _copy(element))
    elif choice < 0.92:
        tag = rng.choice(sorted(schema()))
        known = schema()[tag] or ("name",)
        new = ET.SubElement(element, tag)
        for _ in range(rng.randrange(4)):
            new.attrib[rng.choice(known)] = nasty(rng)
    elif choice < 0.94:
        element.tag = rng.choice(sorted(schema()))
    elif choice < 0.96:
        names = [other.get("name", "") for other in elements if other.get("name")]
        if element.attrib and names:
            element.attrib[rng.choice(sorted(element.attrib))] = rng.choice(names)
    elif choice < 0.98:
        _wrap(rng, element)
    else:
        element.text = rng.choice(WORDS).replace("\0", "")


def _copy(element: ET.Element) -> ET.Element:
    return copy.deepcopy(element)


def _wrap(rng: random.Random, element: ET.Element) -> None:
    """All children of an element inside something that multiplies or moves them."""
    children = list(element)
    for child in children:
        element.remove(child)
    tag = rng.choice(("replicate", "frame", "body", "default", "worldbody", "robot", "mujoco"))
    new = ET.SubElement(element, tag)
    if tag == "replicate":
        new.attrib["count"] = rng.choice(("2", "10", "1000", "100000000", "-1", "0"))
        new.attrib["offset"] = rng.choice(("0 0 0", "0.1 0 0", "nan 0 0", "1e9 0 0"))
    new.extend(children)


def mutate_bytes(rng: random.Random, data: bytes) -> bytes:
    """One mutation of bytes."""
    if not data:
        return rng.choice(BYTES)
    a = rng.randrange(len(data))
    b = min(len(data), a + rng.choice((1, 1, 2, 8, 40, 400)))
    choice = rng.random()
    if choice < 0.25:
        return data[:a] + bytes([rng.randrange(256)]) + data[a + 1 :]
    if choice < 0.4:
        return data[:a] + data[b:]
    if choice < 0.5:
        return data[:b] + data[a:]
    if choice < 0.8:
        return data[:a] + rng.choice(BYTES) + data[a:]
    if choice < 0.9:
        return data[:a]
    c = rng.randrange(len(data))
    return data[:c] + data[a:b] + data[c:]


def mutate_numbers(rng: random.Random, root: ET.Element) -> None:
    """One mutation that a schema allows: a number that is scaled or drawn anew, two values of an attribute that are
    swapped between elements of a kind, or a copy of an element under another name."""
    elements = [element for element in root.iter() if element.attrib]
    if not elements:
        return
    element = rng.choice(elements)
    numeric = [key for key, value in sorted(element.attrib.items()) if _numbers(value)]
    choice = rng.random()
    if choice < 0.7 and numeric:
        key = rng.choice(numeric)
        words = element.attrib[key].split()
        k = rng.randrange(len(words))
        factor = rng.choice((-1, 0, 1e-12, 1e-6, 1e-3, 0.1, 10, 1e3, 1e5, 1e8, 1e12))
        words[k] = rng.choice(FINITE) if rng.random() < 0.3 else f"{float(words[k]) * factor:g}"
        element.attrib[key] = " ".join(words)
    elif choice < 0.85:
        other = rng.choice([one for one in elements if one.tag == element.tag])
        shared = sorted(set(element.attrib) & set(other.attrib))
        key = rng.choice(shared) if shared else ""
        if key:
            element.attrib[key], other.attrib[key] = other.attrib[key], element.attrib[key]
    else:
        parents = {child: parent for parent in root.iter() for child in parent}
        copy = _copy(element)
        for inner in copy.iter():
            if "name" in inner.attrib:
                inner.attrib["name"] += rng.choice(("_2", "%s", "é", " ", "/", "_" * 260))
        if element in parents:
            parents[element].append(copy)


FINITE = ("0", "1", "-1", "1e-9", "1e-4", "0.5", "100", "1e4", "1e6", "-1e6", "1e9", "1e-300", "1e30")


def _numbers(value: str) -> bool:
    try:
        return bool([float(word) for word in value.split()])
    except ValueError:
        return False


def mutated(rng: random.Random, text: str) -> bytes:
    """A model file with one to a few mutations, mostly of structure, or of numbers and names alone."""
    root = ET.fromstring(text)
    if rng.random() < 0.45:
        for _ in range(rng.choice((1, 1, 2, 3))):
            mutate_numbers(rng, root)
        return ET.tostring(root, encoding="unicode").encode()
    by_bytes = rng.random() < 0.25
    for _ in range(rng.choice((0, 1)) if by_bytes else rng.choice((1, 1, 1, 2, 3, 6))):
        mutate_tree(rng, root)
    data = ET.tostring(root, encoding="unicode").replace("\0", "").encode("utf-8", "replace")
    if by_bytes:
        for _ in range(rng.choice((1, 1, 2, 5))):
            data = mutate_bytes(rng, data)
    elif rng.random() < 0.02:
        data = data.decode().encode(rng.choice(("latin-1", "utf-16", "utf-8-sig", "cp1252")), "replace")
    return data
