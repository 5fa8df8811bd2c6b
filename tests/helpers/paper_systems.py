"""The paper's example of Tab. 4.1 and its hopper, in plain Python and compiled, and what they must show."""

from stickslip.lab.papers.event_selected import systems

START = (-0.4, -0.15, 0.3)
CROSSED_AT = {1: 0.209588078335, 2: 0.262364264467, 0: 0.369207153822}
AT_HALF = (0.269850417833, 0.337890438217, -0.346637698428)
COMPILED_TABLE = systems.table_field, systems.table_guards, systems.table_slopes
TABLE = tuple(function.py_func for function in COMPILED_TABLE)

COMPILED_HOPPER = systems.hopper_field, systems.hopper_guards, systems.hopper_slopes
HOPPER = tuple(function.py_func for function in COMPILED_HOPPER)
RESET = systems.opposite(1)
"""Touchdown arms lift-off, lift-off arms touchdown."""
