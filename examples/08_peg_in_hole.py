"""A peg with 5 µm of clearance on each side, and one that is 5 µm too large: which formulation is right?

Stewart–Trinkle with every anticipated contact keeps the small peg out; PEG requires only that a corner is outside one
face. Figure 8 of Williams et al., "RPI-MATLAB-Simulator".
"""

import stickslip as ss
from stickslip.scenes import SCENES

CASES = {
    "PEG": ("peg/lemke", {}),
    "Stewart–Trinkle, contacts filtered": ("stewart-trinkle/lemke", {}),
    "Stewart–Trinkle, all contacts anticipated": ("stewart-trinkle/lemke", {"detector": "peg", "margin": 0.1}),
}

for scale, wanted in ((0.99999, "-3.45405, free fall"), (1.00001, "1.00000, on top")):
    print(f"peg scaled by {scale}: wanted z = {wanted}")
    for label, (method, options) in CASES.items():
        sim = ss.Simulation(SCENES["peg-in-hole"].build(scale=scale).scene, method=method, dt=0.01, **options)
        sim.step(100)
        print(f"  {label:45s} z = {sim.state.q[2]:9.5f} m, {len(sim.contacts):3d} contacts at the end")
