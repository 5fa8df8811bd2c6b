"""Former place of ``lab.store``."""

from stickslip.lab.store import NotStoredError, Store, check_folder, code_hash  # noqa: F401
