"""The names of the built-in methods as a type, so that editors complete them; a test compares it with the registry."""

from typing import Literal

MethodName = Literal[
    "semi-implicit-euler",
    "euler",
    "rk4",
    "implicit-euler",
    "expo",
    "event-selected",
    "bilateral",
    "stewart-trinkle",
    "anitescu-potra",
    "peg",
    "coulomb",
    "relaxed",
    "variational",
    "mujoco",
]
