"""Tables of `noren.cluster`: what was measured, and what its model says for more nodes."""

from pathlib import Path
from typing import Any

from records import number, size, table, times

Found = dict[str, Any]

SHOWN = [1, 4, 16, 64]
"""The numbers of nodes of the table; the figure has more."""
NOTHING = "Not measured yet: `python bench/cluster.py`, on a machine without other work."


def newest(folder: Path) -> Path | None:
    """Return the newest measurements on a machine, or on another one: names start with their date."""
    own = max(folder.glob("????-??-??-cluster.json"), default=None)
    return own or max(folder.parent.glob("*/????-??-??-cluster.json"), key=lambda path: path.name, default=None)


def summary_table(found: Found) -> str:
    """Return what was measured with up to four workers."""
    rows: list[list[str]] = []
    if overhead := found.get("overhead"):
        seconds = {int(nbytes): value for nbytes, value in overhead["seconds"].items()}
        largest = max(seconds)
        per_byte = (seconds[largest] - seconds[0]) / (2 * largest)
        rows += [
            ["a task that does nothing, one worker", f"{number(seconds[0] * 1e3)} ms"],
            ["each byte of item and result besides", f"{number(1e-9 / per_byte)} GB/s"],
        ]
    for row in found.get("scaling", {}).get("rows", []):
        what = f"tasks of {number(row['task_seconds'] * 1e3)} ms: 2 workers over 1, with the bytes of both"
        rows.append([what, f"{times(row['one'] / row['two'])}, {'equal' if row['equal'] else 'not equal'}"])
    if floor := found.get("scaling", {}).get("floor"):
        rows.append(["the same of the longest in two processes without Ray", times(floor)])
    if keys := found.get("keys"):
        for workers, memory in sorted(keys["by_workers"].items(), key=lambda pair: int(pair[0])):
            share = memory["shares"] / keys["mapped"]
            what = f"keys of {size(keys['mapped'])}, {workers} worker(s): memory of the keys, all together"
            rows.append([what, f"{times(share)} copies"])
    if stream := found.get("stream"):
        what = f"{stream['ciphertexts']} ciphertexts of {size(stream['item_bytes'])} through the driver"
        rows += [
            [what, f"{number(stream['seconds'])} s"],
            ["peak memory of the driver then", size(stream["peak"])],
        ]
    if boot := found.get("bootstraps"):
        what = f"keys of bootstrapping, {size(boot['compact'])}: on a node, as {size(boot['mapped'])}"
        rows += [
            [what, f"{number(boot['placed'])} s"],
            ["a bootstrap of 2^15 slots by two threads", f"{number(boot['seconds'])} s"],
            ["of it outside of the program", f"{number(1e3 * (boot['seconds'] - boot['program_seconds']))} ms"],
        ]
    if not rows:
        return NOTHING
    here = found["machine"]
    cores = f"{here['processor']} (family {here['family']}), {here['cores']} cores"
    where = f"{cores}, Python {here['python']}, {here['date']}."
    return f"{where}\n\n{table(['what', 'measured'], rows)}"


def nearest_lines(found: Found) -> str:
    """Return what the example printed."""
    nearest = found.get("nearest")
    if not nearest:
        return NOTHING
    lines = ["```text", *nearest["output"], "```", "", f"Peak memory of its largest process: {size(nearest['peak'])}."]
    return "\n".join(lines)


def model_table(found: Found) -> str:
    """Return predictions beside runs."""
    model = found.get("model")
    if not model:
        return NOTHING
    rows = [
        [
            row["job"],
            str(row["slots"]),
            number(row["measured"]),
            number(row["predicted"]),
            times(row["predicted"] / row["measured"]),
            times(row.get("efficiency")),
        ]
        for row in model["rows"]
    ]
    header = ["job", "tasks at once", "measured, s", "predicted, s", "predicted / measured", "efficiency, measured"]
    return table(header, rows)


def curve_table(found: Found) -> str:
    """Return what the model says for more nodes: a model, not a measurement."""
    curve = found.get("curve")
    if not curve:
        return NOTHING
    rows = [
        [
            job,
            str(nodes),
            number(each["seconds"] / 60),
            times(each["efficiency"]),
            each["bottleneck"],
            number(each["keys_seconds"]),
            size(each["node_memory"]),
        ]
        for job, predictions in curve["jobs"].items()
        for nodes, each in zip(curve["nodes"], predictions, strict=True)
        if nodes in SHOWN
    ]
    header = ["job", "nodes", "all, min", "efficiency", "waits for", "keys, s", "memory of a node"]
    picture = "![a model of 1 to 64 nodes](figures/cluster-model.svg)"
    return f"{picture}\n\n{table(header, rows)}"
