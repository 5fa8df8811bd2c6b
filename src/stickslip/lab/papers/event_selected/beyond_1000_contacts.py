"""Not in the paper: the plate of Sec. 5.2 on up to 1000 springs, with what is counted; method as in ``fig52_plate``."""

from __future__ import annotations

from stickslip.lab.papers.event_selected.fig52_plate import bed_table, bed_targets, beds, fit
from stickslip.lab.papers.event_selected.setups import OURS, THEIRS, Sizes
from stickslip.lab.papers.paper import Part, Results, finish, image, new_figure
from stickslip.lab.papers.rows import column
from stickslip.lab.store import Store
from stickslip.lab.targets import Target


def study(store: Store, sizes: Sizes) -> Results:
    return {"beyond": beds(store, sizes, sizes.beyond)}


def targets(results: Results) -> list[Target]:
    return bed_targets(results["beyond"])


def draw(results: Results):
    """Times, counts, and time in units of work, from Fig. 5.2's beds on."""
    rows = [*results.get("plate", []), *results["beyond"]]
    figure, axes = new_figure(1, 3, (16, 4.4))
    left, middle, right = axes[0]
    contacts, mine, theirs = (column(rows, key) for key in ("contacts", "ours", "mujoco"))
    left.loglog(contacts, theirs, "o-", color=THEIRS, markersize=4, label="MuJoCo")
    left.loglog(contacts, mine, "o-", color=OURS, markersize=4, label="ours")
    left.set(ylabel="median time of 2 s [ms]", title="to 1000 springs")
    for key, style in (("projections", "o-"), ("steps", "s-"), ("guards", "^:")):
        middle.loglog(contacts, column(rows, key), style, color=OURS, markersize=4, label=f"ours: {key}")
    middle.loglog(contacts, column(rows, "mujoco_contacts"), "d-", color=THEIRS, markersize=4,
                  label="MuJoCo: contacts in a step, mean")  # fmt: skip
    middle.set_title("what is counted in 2 s")
    work = column(rows, "guards") + column(rows, "fields")
    more = contacts > contacts.min()
    right.loglog(contacts[more], 1e6 * (mine - mine.min())[more] / (work * contacts)[more], "o-", color=OURS,
                 markersize=4, label="ours: ns per evaluation of f or h and spring")  # fmt: skip
    right.loglog(contacts, 1e3 * theirs / contacts, "o-", color=THEIRS, markersize=4,
                 label="MuJoCo: ns per step and spring")  # fmt: skip
    right.set_title("time in units of work")
    finish(axes, "springs n", which="both")
    return figure


def section(results: Results) -> str:
    rows = results["beyond"]
    text = ["## To 1000 contacts\n", image("beyond_1000_contacts", "Times, counts, and time in units of work")]
    if len(rows) > 1:
        mine, theirs = fit(rows, "ours"), fit(rows, "mujoco")
        text.append(
            f"From {rows[0]['contacts']} to {rows[-1]['contacts']} springs of the same stiffness in all, MuJoCo's time "
            f"remains a straight line (R² = {theirs.r2:.4f}, {1e3 * theirs.each:.1f} µs per contact). Ours has a "
            "projection for each touchdown and lift-off, and each looks at all guards and springs: it grows as n², "
            f"and its time per contact, {1e3 * mine.each:.1f} µs here, with n.\n"
        )
    return "\n".join([*text, bed_table(rows)])


BEYOND = Part("beyond", study, section, targets, {"beyond_1000_contacts": draw}, tables=("beyond",))
