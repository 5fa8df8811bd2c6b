"""Groups of registered methods, from what the methods declare."""

from __future__ import annotations

from stickslip.methods.registry import METHODS


def soft_methods() -> tuple[str, ...]:
    """Methods whose default contacts are springs and dampers with the stiffness of the material."""
    return tuple(
        name
        for name, method in METHODS.items()
        if method.capabilities.variants[0] == "spring-damper" and "stiffness" in method.capabilities.honours
    )
