"""Plots of a log against time. ``PLOTS`` names them; each draws into given axes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from stickslip.errors import check_options, one_of, unknown
from stickslip.model.arrays import FREE, HINGE, SLIDE
from stickslip.record import sums

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from stickslip.record.log import Log

MOST_LINES = 12
"""Largest number of labelled curves; of more, those that vary most are kept."""
COLUMNS = 2000
"""Columns of a picture; longer curves are drawn by their lowest and highest point in each column."""


def plot(log: Log, what: str = "energy", ax: Axes | None = None, **options: Any) -> Axes:
    """Draw ``what`` into ``ax``, by default the axes of a new figure."""
    one_of("plot", what, PLOTS)
    draw = PLOTS[what]
    check_options(f"plot {what!r}", options, [*signature(draw).parameters][2:])
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots(figsize=(8.0, 4.0), layout="constrained")
    draw(log, ax, **options)
    ax.set_xlabel("time [s]")
    ax.set_title(what.replace("_", " "))
    ax.grid(alpha=0.3)
    if not len(log):
        _note(ax, "no frames")
    if ax.get_legend_handles_labels()[1]:
        # The legend is beside the curves, so that it hides none.
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, fontsize="small", frameon=False)
    return ax


def _energy(log: Log, ax: Axes) -> None:
    kinetic, potential, elastic = log.energy.T
    total = log.energy.sum(axis=1) + np.nan_to_num(log.contact_energy)
    ax.plot(*thinned(log.time, kinetic), label="kinetic")
    ax.plot(*thinned(log.time, potential), label="potential")
    ax.plot(*thinned(log.time, elastic), label="elastic (joints)")
    if np.any(np.nan_to_num(log.contact_energy) != 0.0):
        ax.plot(*thinned(log.time, log.contact_energy), label="elastic (contacts)")
    ax.plot(*thinned(log.time, total), "k--", label="total")
    ax.set_ylabel("energy [J]")


def _height(log: Log, ax: Axes, links: Iterable[int | str] | None = None) -> None:
    _curves(ax, log, [(log.names.links[b], log.pose[:, b, 2]) for b in _links(log, links)])
    ax.set_ylabel("height z [m]")


def _position(log: Log, ax: Axes, links: Iterable[int | str] | None = None) -> None:
    chosen = _links(log, links)
    _curves(ax, log, [(f"{log.names.links[b]} {'xyz'[k]}", log.pose[:, b, k]) for b in chosen for k in range(3)])
    ax.set_ylabel("position [m]")


def _velocity(log: Log, ax: Axes) -> None:
    """Linear velocity of the free bodies."""
    header, curves = log.header, []
    for j in np.flatnonzero(header.joint_type == FREE):
        link, first = header.link_names[header.joint_link[j]], header.joint_v[j]
        curves += [(f"{link} {'xyz'[k]}", log.v[:, first + k]) for k in range(3)]
    _curves(ax, log, curves, "no free bodies: see joint_velocity")
    ax.set_ylabel("velocity [m/s]")


def _joint(log: Log, ax: Axes, joints: Sequence[str] | None = None) -> None:
    chosen = _joints(log, joints)
    curves = [(log.names.joints[j], log.q[:, log.header.joint_q[j]]) for j in chosen]
    _curves(ax, log, curves, "no hinge or slide joints")
    ax.set_ylabel(f"joint coordinate [{_joint_unit(log, chosen)}]")


def _joint_velocity(log: Log, ax: Axes, joints: Sequence[str] | None = None) -> None:
    chosen = _joints(log, joints)
    curves = [(log.names.joints[j], log.v[:, log.header.joint_v[j]]) for j in chosen]
    _curves(ax, log, curves, "no hinge or slide joints")
    unit = " or ".join(f"{u}/s" for u in _joint_unit(log, chosen).split(" or "))
    ax.set_ylabel(f"joint velocity [{unit}]")


def _control(log: Log, ax: Axes) -> None:
    _curves(ax, log, [(n, log.control[:, k]) for k, n in enumerate(log.names.actuators)], "no actuators")
    ax.set_ylabel("control [unit of the actuator]")


def _contact_force(log: Log, ax: Axes) -> None:
    force = log.contact("force")[:, 0]
    pairs = sums.by_links(log)
    _curves(ax, log, [(_pair(log, p), sums.per_frame(log, force, mask)) for p, mask in pairs.items()], "no contacts")
    ax.set_ylabel("normal force [N]")


def _friction(log: Log, ax: Axes) -> None:
    """|tangential| / normal of every contact, with μ: a contact slips on the line and sticks below it."""
    force, mu, time = log.contact("force"), log.contact("friction"), log.time[log.contact_frame()]
    # Without normal force the ratio has no meaning.
    pressed = force[:, 0] > 1e-6 * np.max(force[:, 0], initial=0.0)
    ratio = np.linalg.norm(force[:, 1:], axis=1) / np.where(pressed, force[:, 0], 1.0)
    busiest = sorted(sums.by_links(log).items(), key=lambda item: -np.count_nonzero(item[1]))
    for k, (pair, mask) in enumerate(busiest):
        few = k < MOST_LINES - 1 or len(busiest) == MOST_LINES
        label = _pair(log, pair) if few else (f"{len(busiest) - k} others" if k == MOST_LINES - 1 else None)
        mask = mask & pressed
        ax.plot(*_dots(time[mask], ratio[mask]), ".", markersize=3.0, color=f"C{k % 10}" if few else "0.7", label=label)
    for value in np.unique(mu[pressed]):
        ax.axhline(value, color="k", linestyle="--", linewidth=1.0, label=f"μ = {value:g}")
    if len(log) > 1:
        ax.set_xlim(log.time[0], log.time[-1])  # the full range, also without contacts
    if not pressed.any():
        _note(ax, "no contacts")
    ax.set_ylabel("tangential / normal force [1]")


def _penetration(log: Log, ax: Axes) -> None:
    _curves(ax, log, [("deepest contact", 1e3 * log.penetration())] if len(log.contact("gap")) else [], "no contacts")
    ax.set_ylabel("penetration [mm]")


def _contacts(log: Log, ax: Axes) -> None:
    ax.step(*thinned(log.time, log.contact_count()), where="post", label="contacts")
    if not len(log.contact("gap")):
        _note(ax, "no contacts")
    ax.locator_params(axis="y", integer=True)
    ax.set_ylabel("number of contacts [1]")


def _joint_error(log: Log, ax: Axes, velocity: bool = False) -> None:
    """Position errors of joints in maximal coordinates."""
    errors = log.joint_error[:, :, int(velocity)]
    names = log.names.constraints
    _curves(ax, log, [(n, errors[:, k]) for k, n in enumerate(names)], "no errors: joints are not constraints here")
    ax.set_ylabel("joint velocity error [m/s or rad/s]" if velocity else "joint error [m or rad]")


def _slip(log: Log, ax: Axes) -> None:
    """The fastest sliding speed of loaded contacts, per pair of links."""
    force, speed = log.contact("force")[:, 0], np.linalg.norm(log.contact("velocity")[:, 1:], axis=1)
    speed = np.where(force > 1e-6 * np.max(force, initial=0.0), speed, 0.0)
    curves = []
    for pair, mask in sums.by_links(log).items():
        fastest = np.zeros(len(log))
        np.maximum.at(fastest, log.contact_frame()[mask], speed[mask])
        curves.append((_pair(log, pair), fastest))
    _curves(ax, log, curves, "no contacts")
    ax.set_ylabel("slip speed [m/s]")


def _iterations(log: Log, ax: Axes) -> None:
    _curves(ax, log, [("iterations", log.iterations.astype(float))] if log.iterations.any() else [], "no solver")
    ax.set_ylabel("solver iterations [1]")


def _residual(log: Log, ax: Axes) -> None:
    there = np.nan_to_num(log.residual).any()
    _curves(ax, log, [("residual", np.maximum(log.residual, 1e-18))] if there else [], "no solver")
    if there:
        ax.set_yscale("log")
    ax.set_ylabel("residual [as the solver's]")


PLOTS: dict[str, Callable[..., None]] = {
    plot.__name__[1:]: plot
    for plot in (
        _energy, _height, _position, _velocity, _joint, _joint_velocity, _control, _contact_force, _friction,
        _penetration, _contacts, _joint_error, _slip, _iterations, _residual,
    )
}  # fmt: skip


def thinned(time: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A curve with at most ``2·COLUMNS`` points that looks the same; no peak is lost."""
    rows = len(y) // COLUMNS
    if rows < 3:
        return time, y
    whole = rows * COLUMNS
    low, high = np.where(np.isnan(y), np.inf, y)[:whole], np.where(np.isnan(y), -np.inf, y)[:whole]
    first = np.arange(COLUMNS) * rows
    ends = [first + part.reshape(COLUMNS, rows).argmin(axis=1) for part in (low, -high)]
    kept = np.unique(np.concatenate([*ends, [0], np.arange(whole, len(y)), [len(y) - 1]]))
    return time[kept], y[kept]


def _dots(time: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Draw points, without those that others hide."""
    if len(y) <= COLUMNS or not np.ptp(time) > 0.0:
        return time, y
    column = ((time - time[0]) / np.ptp(time) * COLUMNS).astype(np.int64)
    row = (y / max(float(np.max(y)), 1e-12) * 500).astype(np.int64)
    kept = np.unique(1000 * column + row, return_index=True)[1]
    return time[kept], y[kept]


def _curves(ax: Axes, log: Log, curves: list[tuple[str, np.ndarray]], nothing: str = "nothing to draw") -> None:
    """Draw at most ``MOST_LINES`` labelled curves, those that vary most, and the others in grey."""
    if not curves:
        _note(ax, nothing)
        return
    kept = set(range(len(curves)))
    if len(curves) > MOST_LINES:
        moves = [np.ptp(y[np.isfinite(y)]) if np.isfinite(y).any() else 0.0 for _, y in curves]
        kept = set(np.argsort(moves)[::-1][: MOST_LINES - 1].tolist())
        rest = [y for k, (_, y) in enumerate(curves) if k not in kept]
        for k, y in enumerate(rest):
            ax.plot(*thinned(log.time, y), color="0.8", linewidth=0.8, label="" if k else f"{len(rest)} others")
    color = 0
    for k, (label, y) in enumerate(curves):
        if k in kept:
            ax.plot(*thinned(log.time, y), color=f"C{color % 10}", linestyle="-" if color < 10 else ":", label=label)
            color += 1


def _note(ax: Axes, text: str) -> None:
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", color="0.5")


def _links(log: Log, links: Iterable[int | str] | None) -> list[int]:
    """The chosen links, by default the roots of the trees."""
    if links is not None:
        return [log.link(b) for b in ([links] if isinstance(links, int | str) else links)]
    parent = log.header.link_parent
    return [b for b in range(1, len(parent)) if parent[b] == 0]


def _joints(log: Log, joints: Sequence[str] | None) -> list[int]:
    """The chosen hinge and slide joints, by default all."""
    kind = log.header.joint_type
    single = {log.names.joints[j]: int(j) for j in np.flatnonzero((kind == HINGE) | (kind == SLIDE))}
    if joints is None:
        return list(single.values())
    joints = [joints] if isinstance(joints, str) else joints
    for name in joints:
        if name not in single:
            raise unknown("hinge or slide joint", name, single)
    return [single[name] for name in joints]


def _joint_unit(log: Log, joints: list[int]) -> str:
    kinds = {int(log.header.joint_type[j]) for j in joints}
    if kinds == {HINGE}:
        return "rad"
    return "m" if kinds == {SLIDE} else "rad or m"


def _pair(log: Log, pair: tuple[int, int]) -> str:
    return " – ".join(log.names.links[b] for b in pair)
