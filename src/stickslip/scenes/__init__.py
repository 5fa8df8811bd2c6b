"""The bundled scenes, by plain names. A new scene is one function in a module of its family and one line here."""

from __future__ import annotations

from functools import partial

from stickslip.scenes import (
    benchmarks,
    grasps,
    ground,
    jointed,
    linkages,
    masonry,
    robots,
    rpisim,
    simple,
    springs,
    stacks,
    textbook,
)
from stickslip.scenes.robots import standing
from stickslip.simulation.setup import SCENES, Entry, Setup, find

__all__ = ["SCENES", "Entry", "Setup", "find", "standing"]

RIGID = "stewart-trinkle/lemke"
"""Method for rigid bodies without restitution."""
MANY = "stewart-trinkle/pgs"
"""Method for many rigid bodies."""
SHARED = "stewart-trinkle/interior-point"
"""Method for more contacts than a load needs: it spreads the load, while pivoting leaves some contacts without."""
EXACT = "coulomb"
"""Method for scenes where the friction cone must be round."""
HARD = "coulomb/interior-point"
"""Method for a round cone with very different masses, or loads that pass through many contacts."""
CROWDED = "coulomb/interior-point+fischer-newton"
"""Method for hundreds of contacts at once, a few steps of which the interior point alone does not solve."""
EVENTS = "event-selected"
"""Method for scenes where the instants of touchdown and lift-off matter."""

SCENES |= {
    "solo12-drop": Entry(
        partial(robots.drop, "solo12", 0.1, 10.0, 0.2), 2.0, "Solo12 falls 10 cm, holding its posture"
    ),
    "solo12-trot": Entry(robots.solo12_trot, 3.0, "Solo12 trots forward for three seconds"),
    "solo12-jump": Entry(robots.solo12_jump, 2.5, "Solo12 crouches, jumps in place and lands"),
    "a1-drop": Entry(partial(robots.drop, "a1", 0.1, 100.0, 2.0), 2.0, "Unitree A1 falls 10 cm on its feet"),
    "a1-walk": Entry(robots.a1_walk, 3.0, "Unitree A1 walks forward for three seconds", EXACT, 1e-3),
    "romeo-drop": Entry(partial(robots.drop, "romeo", 0.02, 1000.0, 20.0), 2.0, "Romeo is put down from 2 cm"),
    "solo12-squat": Entry(robots.solo12_squat, 10.0, "Solo12 squats three times, by inverse dynamics"),
    "solo12-stand": Entry(robots.solo12_stand, 2.0, "Solo12 stands still on four feet", EXACT, 1e-3),
    "solo12-slip": Entry(
        partial(robots.solo12_stand, 0.1, speed=0.5), 1.0, "Solo12 slips over a floor of friction 0.1", EXACT, 1e-3
    ),
    "terrain": Entry(ground.terrain, 2.0, "Solo12 and bodies of all shapes stand on rough ground", "expo", 1e-3),
    "romeo-walk": Entry(robots.romeo_walk, 6.3, "Romeo takes two steps and stands, by inverse dynamics"),
    "hopper": Entry(simple.hopper, 2.0, "a sphere on an actuated pole lands on one point"),
    "hopper-turn": Entry(simple.hopper_turn, 2.8, "the hopper jumps and turns once in the air", EXACT, 1e-3),
    "chain": Entry(simple.chain, 2.0, "ten links with ball joints fall on the floor"),
    "cylinder": Entry(simple.cylinder, 2.0, "a flat cylinder with eight contact points lands tilted"),
    "preloaded-hopper": Entry(springs.preloaded_hopper, 3.0, "a mass hops on a preloaded leg", EVENTS, 0.01),
    "plate-on-springs": Entry(springs.plate_on_springs, 2.0, "a plate falls on ten springs", EVENTS, 0.01),
    "incline": Entry(simple.incline, 1.0, "a box slides down 20° with friction 0.3"),
    "ball": Entry(simple.ball, 2.0, "a sliding ball begins to roll (at 5/7 of its speed)"),
    "tumble": Entry(simple.tumble, 20.0, "a free body spins about its middle axis and flips"),
    "peg-in-hole": Entry(rpisim.peg_in_hole, 1.0, "a cube falls through a hole with 5 μm to spare", "peg/lemke", 0.01),
    "sphere-on-sphere": Entry(rpisim.sphere_on_sphere, 1.0, "a ball rolls off a large one", RIGID, 0.01),
    "sliding-block": Entry(rpisim.sliding_block, 1.0, "a block begins to slide down a ramp of 15°", RIGID, 0.01),
    "spheres-on-cube": Entry(rpisim.spheres_on_cube, 1.0, "15 balls fall on a tilted cube", RIGID, 0.01),
    "pachinko": Entry(rpisim.pachinko, 3.0, "50 balls rain on 15 pegs", MANY, 0.01),
    "pendulum": Entry(jointed.pendulum, 5.0, "a rod swings on a revolute joint", RIGID, 0.01),
    "hanging-rod": Entry(jointed.hanging_rod, 5.0, "a rod swings on a spherical joint", RIGID, 0.005),
    "cart": Entry(jointed.cart, 2.0, "a cart with four wheels rolls down a slope", SHARED, 0.01),
    "bar-tree": Entry(jointed.bar_tree, 5.0, "a mobile of 127 bars is set turning", RIGID, 0.01),
    "four-bar": Entry(linkages.four_bar, 4.0, "a crank-rocker, its loop closed by a point", "bilateral", 0.001),
    "bricard": Entry(linkages.bricard, 4.0, "six hinges in a ring that should not move, and do", "bilateral", 0.001),
    "sphere-stack": Entry(stacks.sphere_stack, 1.0, "5 × 5 × 5 balls stand exactly on top of each other", MANY, 0.01),
    "loose-sphere-stack": Entry(stacks.loose_sphere_stack, 1.0, "the same balls, a little in disorder", MANY, 0.01),
    "box-pile": Entry(stacks.box_pile, 2.0, "five cubes fall on a pile and come to rest", RIGID, 0.01),
    "domino-row": Entry(stacks.domino_row, 1.5, "ten blocks topple one after the other", RIGID, 0.005),
    "card-house": Entry(stacks.card_house, 1.0, "a house of cards with two storeys stands", RIGID, 0.002),
    "box-grasp": Entry(grasps.box_grasp, 1.0, "three boxes in a row, held in the air by two grippers", SHARED, 0.01),
    "arm-grasp": Entry(grasps.arm_grasp, 4.0, "a six-joint arm grasps an object and lifts it", RIGID, 0.01),
    "block-stack": Entry(stacks.block_stack, 1.0, "ten blocks stand on each other", HARD, 0.01),
    "heavy-on-light": Entry(stacks.heavy_on_light, 1.0, "a cube of a tonne stands on one of a gram", HARD, 0.01),
    "light-on-heavy": Entry(
        partial(stacks.heavy_on_light, 1e3, 1e-3), 1.0, "a cube of a gram stands on one of a tonne", HARD, 0.01
    ),
    "arch": Entry(masonry.arch, 1.0, "a semicircular arch stands if it is thick enough", HARD, 0.005),
    "balls-on-box": Entry(benchmarks.balls_on_box, 4.0, "a pushed box carries 25 balls, which roll", EXACT, 0.01),
    "ball-cube": Entry(benchmarks.ball_cube, 2.0, "6 × 6 × 6 balls without friction collapse", EXACT, 5e-3),
    "spheres-in-box": Entry(stacks.spheres_in_box, 1.0, "100 balls fall into a box and come to rest", CROWDED, 5e-3),
    "ball-rolling": Entry(textbook.ball_rolling, 1.0, "a ball rolls down a plane (with 5/7·g·sin α)", EXACT, 0.01),
    "bouncing-ball": Entry(textbook.bouncing_ball, 3.0, "a ball bounces until it rests", EXACT, 1e-3),
    "newtons-cradle": Entry(textbook.newtons_cradle, 2.0, "five balls on rods: one strikes, one leaves", EXACT, 1e-4),
    "painleve-rod": Entry(textbook.painleve_rod, 0.5, "a sliding rod jams: Painlevé's paradox", EXACT, 1e-3),
    "wedge": Entry(textbook.wedge, 0.5, "a squeezed wedge holds if tan(half angle) ≤ μ", HARD, 0.01),
    "sliding-disc": Entry(textbook.sliding_disc, 1.0, "a disc slides until it stops", EXACT, 0.01),
}
