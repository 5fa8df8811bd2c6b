"""Every case of the truth suite by name. A new family is a module with a tuple CASES and one name below."""

from __future__ import annotations

from stickslip.lab.truth.case import Case
from stickslip.lab.truth.cases import impacts, jamming, loops, many_bodies, rolling, sliding, standing, tumbling

FAMILIES = (sliding, rolling, impacts, jamming, tumbling, loops, standing, many_bodies)

CASES: dict[str, Case] = {case.name: case for family in FAMILIES for case in family.CASES}
