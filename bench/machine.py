"""What the machine is, and the folder of its results."""

import datetime
import json
import os
import platform
import re
import subprocess
from pathlib import Path
from typing import Any

from libraries import ROOT

RESULTS = ROOT / "bench" / "results"

# What makes two machines one kind.
KIND = ["processor", "family", "model", "cores"]


def output(*command: str) -> str | None:
    """Return what a program prints, or None if it cannot be run."""
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    except (OSError, subprocess.CalledProcessError):
        return None
    return result.stdout.strip()


def read(path: str) -> str | None:
    """Return the text of a file of the system, or None."""
    try:
        return Path(path).read_text().strip()
    except OSError:
        return None


def memory(name: str) -> int:
    """Return a figure of this process from Linux, in bytes: VmRSS now, VmHWM at most since refs were cleared."""
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in status if line.startswith(name))


def describe() -> dict[str, Any]:
    """Return what can be known about this machine and its programs."""
    info = dict(
        re.findall(r"^(\S[^\t:]*?)\s*: (.*)$", (read("/proc/cpuinfo") or "").partition("\n\n")[0], re.MULTILINE)
    )
    caches = {}
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        parts = [read(str(index / name)) for name in ["level", "type", "size"]]
        caches[f"L{parts[0]} {parts[1]}"] = parts[2]
    memory = re.search(r"MemTotal:\s+(\d+) kB", read("/proc/meminfo") or "")
    vectors = [flag for flag in info.get("flags", "").split() if flag.startswith(("avx", "fma", "bmi2"))]
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "processor": info.get("model name", platform.processor()),
        "family": info.get("cpu family"),
        "model": info.get("model"),
        "cores": os.cpu_count(),
        "vectors": vectors,
        "caches": caches,
        "memory_bytes": int(memory[1]) * 1024 if memory else None,
        "large_pages": read("/sys/kernel/mm/transparent_hugepage/enabled"),
        "kernel": platform.release(),
        "commit": output("git", "rev-parse", "HEAD"),
        "changed": bool(output("git", "status", "--porcelain", "--untracked-files=no")),
        "rustc": output("rustc", "--version"),
        "go": output("go", "version") or output("/usr/local/go/bin/go", "version"),
        "cxx": (output("c++", "--version") or "").partition("\n")[0] or None,
        "python": platform.python_version(),
    }


def host(description: dict[str, Any], results: Path = RESULTS) -> str:
    """Return the name of the folder of this kind of machine: one that is there, or a new one."""
    for path in sorted(results.glob("*/machine.json")):
        known = json.loads(path.read_text())
        if all(known.get(name) == description[name] for name in KIND):
            return path.parent.name
    words = f"{description['processor']} f{description['family']} m{description['model']} {description['cores']}core"
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")
