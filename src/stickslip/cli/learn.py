"""``stickslip learn``: a policy by random search, and its returns under every contact method."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from stickslip.cli.options import method_options
from stickslip.cli.plugin import Plugin, load_plugins


def learn(
    environment: Annotated[
        str, Argument(help="Hopper, Solo12Stand, Solo12Walk, PushBox, PegInHole or ArmReach")
    ] = "Hopper",
    method: Annotated[str, Option(help="the contact method to learn with; default: the environment's own")] = "",
    methods: Annotated[str, Option(help="methods to judge by, separated by commas; default: all")] = "",
    out: Annotated[Path | None, Option(help="folder for policy.npz, learn.json and learn.png")] = None,
    iterations: Annotated[int, Option(help="iterations of the search")] = 250,
    directions: Annotated[int, Option(help="directions of each iteration; two worlds for each")] = 32,
    noise: Annotated[float, Option(help="how far weights are changed along a direction")] = 0.2,
    step: Annotated[float, Option(help="length of an update")] = 0.2,
    seed: Annotated[int, Option(help="seed of the search")] = 0,
    randomise: Annotated[bool, Option(help="draw friction and mass anew for each episode while learning")] = False,
    episodes: Annotated[int, Option(help="episodes of each judgement")] = 16,
    patience: Annotated[float, Option(help="longest time [s] of a method's judgement, compilation apart")] = 120.0,
    policy: Annotated[Path | None, Option(help="judge this policy.npz; learn nothing")] = None,
    dt: Annotated[float | None, Option(help="time step [s] to learn with; default: the environment's own")] = None,
    option: Annotated[list[str] | None, Option(help="option of the method to learn with, NAME=VALUE")] = None,
    threads: Annotated[int | None, Option(help="threads; default: one per processor")] = None,
    device: Annotated[str, Option(help="where worlds are: cpu, or cuda for a GPU")] = "cpu",
    quick: Annotated[bool, Option(help="a trial: 2 iterations, judged by three methods")] = False,
    plugin: Plugin = None,
) -> None:
    """Learn a skill with one contact method by random search, and see how well it carries over to the others.

    Writes the policy, the learning curve, and the policy's mean return by each method with its deviation. The hopper
    learns to hop in two to three minutes on two cores.

    Examples: [bold]stickslip learn Hopper --method coulomb/pgs --out out/learn[/bold],
    [bold]stickslip learn PushBox --randomise --methods coulomb/pgs,mujoco,expo[/bold],
    [bold]stickslip learn Hopper --policy out/learn/policy.npz --methods relaxed/pgs[/bold]
    """
    from rich.console import Console

    from stickslip.errors import number, whole
    from stickslip.lab.learn.learn import Asked, run_learn
    from stickslip.lab.learn.search import SearchSettings

    load_plugins(plugin)
    shared: dict[str, Any] = {"device": device} if threads is None else {"device": device, "threads": threads}
    named = tuple(name.strip() for name in methods.split(",") if name.strip())
    whole("--directions", directions, 1)
    search = SearchSettings(
        iterations=2 if quick else whole("--iterations", iterations, 1),
        directions=4 if quick else directions,
        best=2 if quick else max(1, directions // 2),
        noise=number("--noise", noise, "a number > 0", above=0.0),
        step=number("--step", step, "a number > 0", above=0.0),
        seed=whole("--seed", seed, 0),
    )
    if quick:
        named, episodes = named or ("semi-implicit-euler", "mujoco"), min(episodes, 4)
    asked = Asked(
        environment, method or None, dt, search, randomise, named, whole("--episodes", episodes, 4),
        number("--patience", patience, "seconds > 0", above=0.0), policy, shared, method_options(option),
    )  # fmt: skip
    folder = out or Path(f"learn-{environment.removeprefix('stickslip/')}")
    console = Console()
    run_learn(asked, folder, console)
    if policy is None:
        console.print(f"policy   {folder / 'policy.npz'}")
    console.print(f"picture  {folder / 'learn.png'}\nnumbers  {folder / 'learn.json'}")
