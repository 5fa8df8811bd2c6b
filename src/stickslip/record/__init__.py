"""Recordings of runs: HDF5 files, and logs in memory."""

from stickslip.record.log import Contacts, Log, load
from stickslip.record.writer import Recorder

__all__ = ["Contacts", "Log", "Recorder", "load"]
