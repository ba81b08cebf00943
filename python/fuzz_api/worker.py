"""The process that runs cases: reads one name a line, answers with one line of JSON."""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import resource
import sys
import time
import warnings
from typing import Any

from fuzz_api.program import Report, run_case, shrink
from fuzz_api.schemes import SCHEMES

MEMORY = 6 << 30
"""Bytes that a worker may take: an allocation out of all proportion ends it, and not the machine."""


def serve() -> None:
    """Run cases until there are no more lines."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    faulthandler.enable()
    warnings.simplefilter("ignore")
    # Answers have a pipe of their own: what the library prints goes to stderr.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        name = line.strip()
        scheme, seed = name.split(":")
        faulthandler.dump_traceback_later(SCHEMES[scheme].limit * 0.9, exit=False)
        start = time.monotonic()
        report = run_case(SCHEMES[scheme], int(seed))
        if report.finding is not None and report.finding[0] != "fuzzer":
            with contextlib.suppress(Exception):
                report = shrink(SCHEMES[scheme], int(seed), report)
        faulthandler.cancel_dump_traceback_later()
        answers.write(json.dumps(encoded(report, time.monotonic() - start)) + "\n")
        answers.flush()


def encoded(report: Report, seconds: float) -> dict[str, Any]:
    """Return the report as what JSON holds."""
    return {**vars(report), "seconds": seconds}


if __name__ == "__main__":
    serve()
