"""Command line of the fuzzer; see the package."""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings

from fuzz_api.program import run_case
from fuzz_api.runner import fuzz, random_cases, show_finding
from fuzz_api.schemes import FILES, SCHEMES, SELFTESTS
from fuzz_api.worker import encoded
from noren import SecurityWarning


def main() -> int:
    """Run one case, or cases for some time; return the exit status."""
    parser = argparse.ArgumentParser(prog="fuzz_api", description="Differential fuzzer of the public API.")
    parser.add_argument("--seconds", type=float, default=600.0, help="for how long cases are run")
    parser.add_argument("--seed", type=int, default=None, help="of the cases; from the clock if left out")
    parser.add_argument("--scheme", action="append", choices=SCHEMES, help="run only these families of cases")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="worker processes")
    parser.add_argument("--case", action="append", help="run this case, call by call")
    parser.add_argument("--most-findings", type=int, default=20, help="stop after this number")
    parser.add_argument("--verbs", action="store_true", help="show counts of every verb")
    options = parser.parse_args()
    warnings.simplefilter("ignore", SecurityWarning)
    if options.case:
        return max(one_case(case) for case in options.case)
    seed = options.seed if options.seed is not None else int(time.time())
    print(f"seed {seed}, {options.seconds:.0f} s, {options.jobs} processes", flush=True)
    names = options.scheme or [name for name in SCHEMES if name not in (FILES, *SELFTESTS)]
    found = fuzz(random_cases(seed, names), options.seconds, options.jobs, most_findings=options.most_findings)
    print(found.show())
    if options.verbs:
        print(found.verb_table())
    # A short run, or one that findings ended, does not reach everything.
    complete = options.seconds >= 300 and len(found.findings) < options.most_findings
    unreached = found.unreached() if complete else []
    for name in unreached:
        print(f"never reached: {name}")
    print(f"{len(found.findings)} findings, seed {seed}")
    return 1 if found.findings or unreached else 0


def one_case(case: str) -> int:
    """Run one case again, showing every call."""
    scheme, seed = case.split(":")
    report = run_case(SCHEMES[scheme], int(seed), loud=True)
    if report.finding is None:
        print("right, or refused")
        return 0
    print(show_finding(encoded(report, 0.0)))
    return 1


if __name__ == "__main__":
    sys.exit(main())
