"""Contact methods, one folder each, and what several of them share; ``registry.py`` lists them by name."""

import sys
from types import ModuleType

from stickslip.errors import deprecated


class _Package(ModuleType):
    """The package, which may still be called as the function that ``ss.methods`` once was."""

    def __call__(self) -> list[str]:
        from stickslip.methods.registry import method_names

        deprecated("ss.methods()", "ss.method_names()")
        return method_names()


sys.modules[__name__].__class__ = _Package
