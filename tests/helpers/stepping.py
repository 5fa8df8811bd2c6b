"""A function that another process can import: it steps a simulation and gives its state back."""


def stepped(sim, steps):
    sim.step(steps)
    return sim.state
