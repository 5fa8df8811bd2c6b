"""``stickslip list``: scenes, robots, methods and their variants."""

from __future__ import annotations

from stickslip.cli.plugin import Plugin, load_plugins


def list_(plugin: Plugin = None) -> None:
    """Show the bundled scenes and robots, the methods, and which solvers they can use.

    Examples: [bold]stickslip list[/bold], [bold]stickslip list --plugin my_solver.py[/bold]
    """
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Column, Table

    from stickslip.collision.detectors import DETECTORS
    from stickslip.extend import first_line
    from stickslip.methods.registry import METHODS, variants
    from stickslip.model.scene import BUNDLED
    from stickslip.scenes import SCENES

    load_plugins(plugin)
    console = Console()
    scenes = Table("scene", "seconds", "method", "what happens", title="Scenes", title_justify="left")
    for name, entry in SCENES.items():
        scenes.add_row(name, f"{entry.time:g}", entry.method, escape(entry.summary))
    robots = Table("robot", "file", title="Robots", title_justify="left")
    for name, path in BUNDLED.items():
        robots.add_row(name, path.name)
    header = Column("method", no_wrap=True)
    title = "Methods (name or name/variant)"
    steppers = Table(header, "order", "variants", "honours", "summary", title=title, title_justify="left")
    for method, stepper in METHODS.items():
        c = stepper.capabilities
        steppers.add_row(method, str(c.order), "\n".join(c.variants), ", ".join(sorted(c.honours)), escape(c.summary))
    options = Table("method", "option", "what it chooses", title="Options of methods", title_justify="left")
    for method, stepper in METHODS.items():
        for option, text in stepper.option_help().items():
            options.add_row(method, option, escape(text))  # rich would take units in brackets for markup
    of_variants = Table("variant", "what it is", title="Variants", title_justify="left")
    for name, text in variants().items():
        of_variants.add_row(name, escape(text))
    title = "Detectors (option detector of time stepping)"
    detectors = Table("detector", "how it finds contacts", title=title, title_justify="left")
    for name, make in DETECTORS.items():
        detectors.add_row(name, escape(first_line(make, name)))
    for table in (scenes, robots, steppers, options, of_variants, detectors):
        console.print(table)
    for method, stepper in METHODS.items():
        console.print(f"{method}: {stepper.capabilities.reference}", highlight=False, markup=False)
