"""Tables of the suite `bootstrap`."""

from collections.abc import Callable, Sequence

from records import Record, Results, number, power, ratio, size, table, times

SUITE = {"suite": "bootstrap"}
OURS = {**SUITE, "library": "noren", "set": "n16", "slots": 1 << 15}
MODES = ["complex", "real"]
# Sets of ours, in the order of the table of them, with the suites that measure them.
SETS = [("n16", "bootstrap"), ("n16-small", "bootstrap"), ("n16-precise", "bootstrap"), ("n15", "bootstrap")]
SETS += [("rns-heaan", "rns-heaan")]

# What a stage is called in other libraries, and ours that it stands for. The order is ours.
STAGES = {
    "slots to coefficients": ["slot_to_coeff"],
    "raising": ["raise", "projection"],
    "coefficients to slots": ["coeff_to_slot"],
    "modular reduction": ["parts", "exponential", "series", "eval_mod"],
}
MESSAGES = ["random complex", "random real", "constant 1", "constant i", "one-hot", "alternating"]


def seconds(ns: float | None) -> str:
    """Write a time in seconds."""
    return number(None if ns is None else ns / 1e9)


def ordered(results: Results, **fields: object) -> list[Record]:
    """Return records of one operation: noren's first, then by library, set, mode and threads.

    Of noren's sets only the one that others are compared with.
    """

    def place(record: Record) -> tuple[bool, str, str, str, int]:
        library, name, mode = record["library"], record["set"], record["mode"]
        return library != "noren", library, name, mode, record["threads"]

    found = results.select(**SUITE, **fields)
    return sorted((r for r in found if r["library"] != "noren" or r["set"] == OURS["set"]), key=place)


def same(record: Record) -> Record:
    """Return the fields that a run shares with its set-up and its stages."""
    return {**SUITE, **{name: record[name] for name in ["library", "set", "slots", "mode", "threads"]}}


def ours(results: Results, mode: str, threads: int, op: str = "bootstrap") -> Record | None:
    """Return noren's record of the preset that others are compared with."""
    return results.one(**OURS, mode=mode, threads=threads, op=op)


def gain(results: Results, record: Record) -> float | None:
    """Return how many times faster noren bootstraps in the same mode with as many threads."""
    mine = ours(results, record["mode"], record["threads"])
    return ratio(record["median_ns"], mine["median_ns"] if mine else None)


def times_table(results: Results, recorded: Record) -> str:
    """Return time, set-up, levels, keys and memory of every run, and of those that were recorded elsewhere."""
    rows = []
    for record in ordered(results, op="bootstrap"):
        setup = results.one(**same(record), op="setup")
        mine = ours(results, record["mode"], record["threads"], op="setup")
        peaks = [each["peak_rss_bytes"] for each in [record, *([setup] if setup else [])]]
        time = record["median_ns"]
        row = [f"{record['library']} {record['set']}", record["mode"], str(record["threads"]), seconds(time)]
        row.append("" if record["library"] == "noren" else times(gain(results, record)))
        row.append(number(None if time is None else time / 1e6 / record["slots"]))
        row.append(seconds(setup["median_ns"]) if setup else "")
        quotient = ratio(setup["median_ns"] if setup else None, mine["median_ns"] if mine else None)
        row.append("" if record["library"] == "noren" else times(quotient))
        row.append(levels(record.get("levels_left"), record.get("level_bits")))
        row += [size(record.get("key_bytes")), size(record.get("disk_bytes"))]
        row.append(size(max((peak for peak in peaks if peak is not None), default=None)))
        failure = record.get("log2_failure")
        row.append("" if failure is None else f"2^{failure:.0f}")
        rows.append(row)
    rows += [recorded_row(entry) for entry in recorded["bootstrap"]["runs"]]
    header = ["library and set", "messages", "threads", "s", "/ noren", "ms a slot", "set-up s", "/ noren"]
    header += ["levels left", "keys", "on disk", "peak memory", "failure of 100"]
    return table(header, rows)


def levels(count: int | None, bits: float | None) -> str:
    """Write levels and their size."""
    return "" if count is None or bits is None else f"{count} x {bits:.0f} bits"


def recorded_row(entry: Record) -> list[str]:
    """Return a row of a run that was recorded elsewhere."""
    row = [f"{entry['name']}, recorded", entry.get("messages", ""), str(entry["threads"]), number(entry["seconds"])]
    row += ["", number(entry["seconds"] * 1e3 / (1 << 15)), number(entry.get("setup_seconds")), ""]
    row.append(levels(entry.get("levels"), entry.get("level_bits")) or str(entry.get("levels", "")))
    return [*row, size(entry.get("key_bytes")), "", size(entry.get("peak_rss_bytes")), ""]


def precision_table(results: Results, recorded: Record) -> str:
    """Return bits of precision of the worst slot and of the root of the mean square, for each kind of message."""
    rows = []
    for record in ordered(results, op="bootstrap"):
        each = record.get("precision") or {}
        # With more threads the results are the same.
        if any(r["threads"] < record["threads"] for r in _same_set(results, record)):
            continue
        row = [f"{record['library']} {record['set']}", record["mode"]]
        row += [pair(each.get(name)) for name in MESSAGES]
        row.append(pair((record["worst_bits"], record["rms_bits"]) if "worst_bits" in record else None))
        rows.append(row)
    for entry in recorded["bootstrap"]["runs"]:
        if "worst_bits" in entry and entry["threads"] == 1:
            bits = pair((entry["worst_bits"], entry.get("rms_bits")))
            rows.append([f"{entry['name']}, recorded", entry.get("messages", ""), bits, *[""] * len(MESSAGES)])
    return table(["library and set", "messages", *MESSAGES, "worst of all"], rows)


def _same_set(results: Results, record: Record) -> list[Record]:
    fields = {name: record[name] for name in ["library", "set", "slots", "mode", "op"]}
    return results.select(**SUITE, **fields)


def pair(bits: Sequence[float | None] | None) -> str:
    """Write the worst and the mean."""
    if bits is None:
        return ""
    return " / ".join(f"{value:.1f}" for value in bits if value is not None)


def presets_table(results: Results) -> str:
    """Return what each set of ours costs and gives, with complex messages.

    Times and memory are measured with each number of threads.
    """
    rows = []
    for name, suite in SETS:
        fields = {"suite": suite, "library": "noren", "set": name, "mode": "complex"}
        every = sorted(results.select(**fields, op="bootstrap"), key=lambda record: record["threads"])
        if not every:
            continue
        record, setups = every[0], [results.one(**fields, op="setup", threads=r["threads"]) for r in every]
        setup = setups[0] or {}
        security = record["security"]
        row = [f"{name}, N = {power(record['n'])}", security if security == "none" else f"{security} bits"]
        row.append(beside([record["log_qp"], record.get("secure_log_qp")], "{:.0f}".format))
        row.append(levels(record["levels_left"], record["level_bits"]))
        row += [beside([record.get("predicted_bits"), record["worst_bits"]], "{:.1f}".format)]
        row += [f"2^{record['log2_failure']:.0f}"]
        row += [size(setup.get("key_bytes")), size(setup.get("disk_bytes")), size(setup.get("factor_bytes"))]
        peaks = [
            max((each["peak_rss_bytes"] for each in pair if each and each["peak_rss_bytes"]), default=None)
            for pair in zip(every, setups, strict=True)
        ]
        row.append(beside([record.get("predicted_bytes"), *peaks], size))
        row.append(beside([each["median_ns"] if each else None for each in setups], seconds))
        row.append(beside([each["median_ns"] for each in every], seconds))
        rows.append(row)
    header = ["set", "every key", "log QP / bound at 128 bits", "levels left", "bits, worst slot: expected / measured"]
    header += ["failure of 100", "keys", "on disk", "matrices", "memory: expected / measured", "set-up s", "s"]
    return table(header, rows)


def beside(values: Sequence[float | None], write: Callable[[float], str]) -> str:
    """Write those of some figures that there are."""
    return " / ".join(write(value) for value in values if value is not None)


def stage_times(results: Results, record: Record) -> dict[str, float]:
    """Return nanoseconds of the stages of a run, none where they were not measured."""
    found = results.select(**same(record), op="stage")
    by_name = {stage["stage"]: stage["median_ns"] for stage in found if stage["median_ns"] is not None}
    made = {name: sum(by_name.get(part, 0.0) for part in parts) for name, parts in STAGES.items()}
    return made if any(made.values()) else {}


def staged(results: Results) -> list[tuple[Record, dict[str, float]]]:
    """Return all runs of which the stages were measured, with these."""
    found = [(record, stage_times(results, record)) for record in ordered(results, op="bootstrap")]
    return [(record, stages) for record, stages in found if stages]


def stages_table(results: Results) -> str:
    """Return the time of each stage."""
    rows = []
    for record, stages in staged(results):
        total = sum(stages.values())
        row = [f"{record['library']} {record['set']}", record["mode"], str(record["threads"])]
        row += [f"{seconds(stages[name])} ({stages[name] / total:.0%})" for name in STAGES]
        rows.append([*row, seconds(total)])
    return table(["library and set", "messages", "threads", *(f"{name} s" for name in STAGES), "together s"], rows)
