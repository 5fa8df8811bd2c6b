"""Files of contact problems: captured frames in HDF5, and FCLib's format."""

from stickslip.problem_files.fclib import read_fclib, write_fclib
from stickslip.problem_files.fclib_problem import FCLibGlobal, FCLibInfo, FCLibLocal, FCLibProblem, FCLibSolution
from stickslip.problem_files.problem_file import ProblemFile, ProblemWriter
from stickslip.problem_files.problem_frame import ProblemFrame

__all__ = [
    "FCLibGlobal", "FCLibInfo", "FCLibLocal", "FCLibProblem", "FCLibSolution", "ProblemFile", "ProblemFrame",
    "ProblemWriter", "read_fclib", "write_fclib",
]  # fmt: skip
