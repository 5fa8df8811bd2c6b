"""Former place of ``lab.store``."""

from stickslip.lab.store import NotStoredError, Store, check_folder  # noqa: F401
