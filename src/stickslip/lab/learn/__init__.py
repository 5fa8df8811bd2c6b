"""Learning: a policy by random search in many worlds, and how well it carries over to every contact method."""

from stickslip.lab.learn.policy import Policy
from stickslip.lab.learn.search import Point, SearchSettings, search
from stickslip.lab.learn.transfer import Judged, judge

__all__ = ["Judged", "Point", "Policy", "SearchSettings", "judge", "search"]
