"""Gives cases to worker processes, watches their time, and adds up what they did."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fuzz_api.schemes import SCHEMES
from fuzz_api.tool import crowd


@dataclass
class Statistics:
    """Sums over all cases."""

    cases: Counter[str] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)
    verbs: Counter[tuple[str, str]] = field(default_factory=Counter)
    right: Counter[tuple[str, str]] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    worst: dict[str, float] = field(default_factory=dict)
    pessimism: Counter[str] = field(default_factory=Counter)
    findings: list[dict[str, Any]] = field(default_factory=list)

    def add(self, scheme: str, report: dict[str, Any]) -> None:
        """Count one case."""
        self.cases[scheme] += 1
        self.seconds[scheme] += report["seconds"]
        for name, count in report["verbs"].items():
            self.verbs[scheme, name] += count
        for name, count in report["right"].items():
            self.right[scheme, name] += count
        self.refusals.update(report["refusals"])
        self.worst[scheme] = max(self.worst.get(scheme, 0.0), report["worst"])
        self.pessimism[scheme] += report["pessimism"]
        if report["finding"] is not None:
            self.findings.append(report)

    def unreached(self) -> list[str]:
        """Return the verbs that were never right, of the schemes that ran: mistakes must have been made."""
        missing = []
        for scheme in self.cases:
            for verb in SCHEMES[scheme].verbs:
                counts = self.verbs if verb.mistake else self.right
                if not counts[scheme, verb.name]:
                    missing.append(f"{scheme}: {verb.name}")
        return missing

    def show(self) -> str:
        """Return a table of schemes, and the refusals."""
        lines = [f"{'scheme':14} {'cases':>7} {'calls':>8} {'right':>8} {'worst error/bound':>18} {'unbounded':>9}"]
        for scheme, cases in sorted(self.cases.items()):
            calls = sum(count for (one, _), count in self.verbs.items() if one == scheme)
            right = sum(count for (one, _), count in self.right.items() if one == scheme)
            worst, pessimism = self.worst[scheme], self.pessimism[scheme]
            lines.append(f"{scheme:14} {cases:7} {calls:8} {right:8} {worst:18.3f} {pessimism:9}")
        lines.append("refusals: " + ", ".join(f"{name} {count}" for name, count in self.refusals.most_common()))
        return "\n".join(lines)

    def verb_table(self) -> str:
        """Return how often each verb was called, and how often it was right."""
        lines = [
            f"    {scheme + ': ' + name:40} {count:7} {self.right[scheme, name]:7}"
            for (scheme, name), count in sorted(self.verbs.items())
        ]
        return "\n".join(lines)


class Worker:
    """A process that runs one case after the other."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.Queue[str] = queue.Queue()

    def run(self, case: str) -> dict[str, Any]:
        """Return the report of a case; a crash and a hang are findings."""
        start = time.monotonic()
        process = self._process if self._process is not None and self._process.poll() is None else self._start()
        assert process.stdin is not None
        limit = SCHEMES[case.split(":")[0]].limit * crowd()
        try:
            process.stdin.write(case + "\n")
            process.stdin.flush()
            line = self._answers.get(timeout=limit)
        except (queue.Empty, OSError):
            line = ""
        if line:
            found: dict[str, Any] = json.loads(line)
            return found
        code = process.poll()
        kind = "hang" if code is None and time.monotonic() - start >= limit else "crash"
        self.stop()
        message = f"no answer within {limit:.0f} s" if kind == "hang" else f"the process ended with {process.poll()}"
        return empty_report(case, kind, message, time.monotonic() - start)

    def _start(self) -> subprocess.Popen[str]:
        answers: queue.Queue[str] = queue.Queue()
        process = subprocess.Popen(
            [sys.executable, "-m", "fuzz_api.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parent.parent,
        )

        def read() -> None:
            assert process.stdout is not None
            for line in process.stdout:
                answers.put(line)
            # The end of the process.
            answers.put("")

        threading.Thread(target=read, daemon=True).start()
        self._process, self._answers = process, answers
        return process

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def empty_report(case: str, kind: str, message: str, seconds: float) -> dict[str, Any]:
    """Return the report of a case that gave none."""
    nothing: dict[str, Any] = {"verbs": {}, "right": {}, "refusals": {}, "worst": 0.0, "pessimism": 0, "verb": ""}
    return {**nothing, "case": case, "finding": (kind, message), "texts": [], "seconds": seconds}


def fuzz(cases: Any, seconds: float, jobs: int, *, most_findings: int = 20, loud: bool = True) -> Statistics:
    """Run cases until the time is over, or there are no more, or there were enough findings."""
    statistics, lock, end = Statistics(), threading.Lock(), time.monotonic() + seconds

    def work() -> None:
        worker = Worker()
        try:
            while time.monotonic() < end and len(statistics.findings) < most_findings:
                with lock:
                    case = next(cases, None)
                if case is None:
                    return
                report = worker.run(case)
                with lock:
                    statistics.add(case.split(":")[0], report)
                    if report["finding"] is not None and loud:
                        print(show_finding(report), flush=True)
        finally:
            worker.stop()

    threads = [threading.Thread(target=work) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return statistics


def show_finding(report: dict[str, Any]) -> str:
    """Return the program that failed, what was wrong, and the command that runs it again."""
    kind, message = report["finding"]
    program = "\n".join(f"    {line}" for line in report["texts"])
    again = f"PYTHONPATH=python .venv/bin/python -m fuzz_api --case {report['case']}"
    return f"FINDING {kind} in {report['case']}: {message}\n{program}\n    again: {again}\n"


def random_cases(seed: int, names: list[str]) -> Any:
    """Yield names of cases without end: schemes by their weights, seeds that follow from `seed`."""
    rng = np.random.default_rng(seed)
    weights = np.array([SCHEMES[name].weight for name in names])
    while True:
        name = names[int(rng.choice(len(names), p=weights / weights.sum()))]
        yield f"{name}:{int(rng.integers(2**31))}"
