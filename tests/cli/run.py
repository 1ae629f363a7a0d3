"""The command line from outside: exit codes, streams, formats, files, help, and the generated pages."""

import sys

from calibration import calibration
from commands import commands
from compare import compare
from documents import documents
from engines import engines
from foreign_runs import foreign_runs
from harness import Program, arguments
from kernel import kernel
from imports import imports
from inference import inference
from reports import reports
from search import search
from streams import streams
from sweep import sweep
from topology import topology
from tuning import tuning


def main():
    options = arguments()
    program = Program(options.program, options.source)
    for group in (commands, streams, reports, engines, compare, sweep, search, kernel, topology, calibration, imports,
                  foreign_runs, inference, tuning):
        group(program)
    documents(program, options.update)
    return program.finish()


if __name__ == "__main__":
    sys.exit(main())
