"""Plots of the pages, for light and dark pages: what is black in them takes the colour of text."""

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator, ScalarFormatter

from pages import bootstrap, cluster, kernels, parallel, summary, trace
from records import Results

mpl.use("svg")
# Stands for the colour of text until the file is written.
INK = "#010203"
# The same records give the same file.
mpl.rcParams.update(
    {
        "svg.hashsalt": "noren",
        "svg.fonttype": "none",
        "font.size": 8,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "legend.frameon": False,
        **dict.fromkeys(["text.color", "axes.edgecolor", "axes.labelcolor", "axes.titlecolor"], INK),
        **dict.fromkeys(["xtick.color", "ytick.color"], INK),
    }
)
METADATA = {"Date": None, "Creator": None}
COLORS = {"lattigo": "tab:green", "openfhe": "tab:red", "tenseal": "tab:purple", "tfhe-rs": "tab:orange"}
# The colour of text on light and on dark pages.
STYLE = "<style>svg{color:#24292f}@media(prefers-color-scheme:dark){svg{color:#d1d7e0}}</style>"


def save(figure: Figure, path: Path) -> None:
    """Write a figure whose background is the page's and whose ink is that of its text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata=METADATA, bbox_inches="tight", transparent=True)
    plt.close(figure)
    text = path.read_text().replace(INK, "currentColor")
    start = text.index(">", text.index("<svg")) + 1
    path.write_text(text[:start] + "\n " + STYLE + text[start:])


def whole_numbers(axis: Axes, places: list[int]) -> None:
    """Label these places of a logarithmic axis alone."""
    axis.set_xscale("log", base=2)
    axis.xaxis.set_major_locator(FixedLocator(places))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_major_formatter(ScalarFormatter())


def threads_of(count: int) -> str:
    """Write a number of threads."""
    return f"{count} thread" if count == 1 else f"{count} threads"


def summary_plot(results: Results, path: Path) -> None:
    """How many times as long other libraries take, one bar for each operation and library."""
    rows = summary.gains(results)
    bars = [(name, library, gain) for name, times in rows for library, gain in times.items()]
    figure, axis = plt.subplots(figsize=(7, 0.7 + 0.17 * (len(bars) + len(rows))), layout="constrained")
    place, middles = 0.0, []
    for _, times in rows:
        middles.append(place + (len(times) - 1) / 2)
        for library, gain in times.items():
            axis.barh(place, gain, height=0.85, color=COLORS[library], label=summary.LIBRARIES[library])
            axis.text(gain * 1.04, place, f"{gain:.1f}", va="center", fontsize=7)
            place += 1
        place += 0.8
    axis.set_yticks(middles, [name for name, _ in rows])
    axis.tick_params(axis="y", length=0)
    axis.invert_yaxis()
    axis.set_xscale("log")
    axis.set_xlim(left=1)
    axis.xaxis.set_major_locator(FixedLocator([1, 2, 5, 10, 20, 50]))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_major_formatter(ScalarFormatter())
    axis.set_xlabel("times as long as noren takes, one thread")
    handles, names = axis.get_legend_handles_labels()
    unique = dict(zip(names, handles, strict=True))
    figure.legend(unique.values(), unique.keys(), loc="outside upper center", ncols=4)
    save(figure, path)


def cluster_plot(curve: cluster.Found, path: Path) -> None:
    """Speed-ups and efficiencies against the number of nodes, of the model."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.5, 3), layout="constrained")
    nodes = curve["nodes"]
    for job, predictions in curve["jobs"].items():
        single = predictions[0]["seconds"]
        left.plot(nodes, [single / each["seconds"] for each in predictions], "o-", label=job, markersize=3)
        right.plot(nodes, [each["efficiency"] for each in predictions], "o-", markersize=3)
    left.plot(nodes, nodes, ":", color=INK, linewidth=0.8)
    left.set_yscale("log", base=2)
    left.yaxis.set_major_formatter(ScalarFormatter())
    left.set_ylabel("over 1 node, keys and start included")
    right.set_ylabel("efficiency while tasks run")
    right.set_ylim(0, 1.05)
    for axis in (left, right):
        whole_numbers(axis, nodes)
        axis.set_xlabel(f"nodes of {curve['cores']} cores, a model")
    figure.legend(loc="outside upper center", ncols=2)
    save(figure, path)


def trace_plot(results: Results, path: Path) -> None:
    """Time against the number of iterations, one panel for each cell, one thread."""
    isa = trace.fast_isa(results)
    figure, axes = plt.subplots(3, 3, figsize=(8, 6.5), sharex=True, sharey=True)
    for axis, cell in zip(axes.flat, trace.cells(1), strict=True):
        for table, style in [("portable", "o--"), (isa, "o-")]:
            points = [(h, time / 1e6) for h in trace.ITERATIONS if (time := trace.ours(results, cell, h, table))]
            axis.plot(*zip(*points, strict=True), style, label=f"noren, {table}", markersize=3) if points else None
        for library, color in [("lattigo", "tab:green"), ("openfhe", "tab:red"), ("tenseal", "tab:purple")]:
            theirs = trace.peer(results, cell, library)
            if theirs:
                axis.axhline(theirs / 1e6, color=color, linewidth=1, label=f"{library}, {trace.SUMS[library]}")
        axis.set_yscale("log")
        axis.set_title(f"{cell.special} special, level {cell.level}")
        axis.set_xticks(list(trace.ITERATIONS))
    for axis in axes[-1]:
        axis.set_xlabel("iterations h")
    for axis in axes[:, 0]:
        axis.set_ylabel("ms")
    handles = dict(zip(*reversed(axes.flat[0].get_legend_handles_labels()), strict=True))
    if handles:
        figure.legend(handles.values(), handles.keys(), loc="lower center", ncols=3)
        figure.subplots_adjust(bottom=0.14, hspace=0.35)
    save(figure, path)


def elementwise_plot(results: Results, path: Path) -> None:
    """Speed-ups of element-wise operations against the size of a vector."""
    sizes = results.values("n", **kernels.OURS, op="add")
    figure, axis = plt.subplots(figsize=(6, 3.2))
    curves = {
        "add, AVX-512 : portable": [kernels.speed_up(results, "add", n, "avx512") for n in sizes],
        "multiply, AVX-512 : portable": [kernels.speed_up(results, "mul", n, "avx512") for n in sizes],
        "fused, AVX-512 : portable": [kernels.speed_up(results, "mul_add", n, "avx512") for n in sizes],
        "fused : separate, AVX-512": [kernels.fused(results, n, "avx512") for n in sizes],
    }
    for label, values in curves.items():
        points = [(8 * n, value) for n, value in zip(sizes, values, strict=True) if value]
        axis.plot(*zip(*points, strict=True), "o-", label=label, markersize=3) if points else None
    axis.set_xscale("log", base=2)
    axis.set_xlabel("bytes of a vector")
    axis.set_ylabel("times faster")
    axis.set_ylim(bottom=0)
    axis.axhline(1, color="gray", linewidth=0.5)
    figure.legend(loc="upper center", ncols=2, bbox_to_anchor=(0.5, 1.06))
    save(figure, path)


def bootstrap_plot(results: Results, path: Path) -> None:
    """Times of all runs, and beside them the shares of stages where they were measured."""
    runs = [record for record in bootstrap.ordered(results, op="bootstrap") if record["median_ns"]]
    labels = [f"{run['library']}, {run['mode']}, {threads_of(run['threads'])}" for run in runs]
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(8, 0.8 + 0.28 * len(runs)), sharey=True, width_ratios=[3, 2], layout="constrained"
    )
    seconds = [run["median_ns"] / 1e9 for run in runs]
    bars = left.barh(range(len(runs)), seconds, height=0.7)
    for bar, run in zip(bars, runs, strict=True):
        bar.set_color(COLORS.get(run["library"], "tab:blue"))
    left.bar_label(bars, [bootstrap.seconds(run["median_ns"]) for run in runs], padding=2)
    left.set_yticks(range(len(runs)), labels)
    left.invert_yaxis()
    left.set_xlabel("s for 2^15 slots")
    for place, run in enumerate(runs):
        stages, start = bootstrap.stage_times(results, run), 0.0
        total = sum(stages.values())
        for color, name in zip(["C0", "C1", "C2", "C3"], bootstrap.STAGES if stages else [], strict=False):
            right.barh(place, stages[name] / total, left=start, height=0.7, color=color, label=name)
            start += stages[name] / total
        if not stages:
            right.text(0.01, place, "not measured", va="center", fontsize=7)
    right.set_xlabel("shares of the stages")
    right.set_xlim(0, 1)
    handles, names = right.get_legend_handles_labels()
    unique = dict(zip(names, handles, strict=True))
    figure.legend(unique.values(), unique.keys(), loc="outside upper right", ncols=4)
    save(figure, path)


def panels(rows: int) -> tuple[Figure, list[list[Axes]]]:
    """Return a figure with a column for each operation."""
    figure, axes = plt.subplots(rows, len(parallel.OPS), figsize=(11, 2.4 * rows), squeeze=False)
    for axis, op in zip(axes[0], parallel.OPS, strict=True):
        axis.set_title(op)
    for line in axes:
        line[0].set_ylabel("ms")
    figure.subplots_adjust(hspace=0.45, wspace=0.3, bottom=0.17)
    return figure, axes.tolist()


def curve(axis: Axes, places: list[int], found: list[float | None], style: str, label: str) -> None:
    """Draw times in milliseconds where there are any."""
    points = [(x, time / 1e6) for x, time in zip(places, found, strict=True) if time]
    if points:
        axis.plot(*zip(*points, strict=True), style, label=label, markersize=3, linewidth=1)


def parallel_plot(results: Results, path: Path) -> None:
    """Times against threads at level 16, and against levels on all cores."""
    figure, axes = panels(2)
    threads = parallel.threads_of(results, "threads")
    for op, above, below in zip(parallel.OPS, *axes, strict=True):
        for way in parallel.WAYS:
            found = [parallel.point(results, "threads", op, way, count, parallel.LEVEL) for count in threads]
            curve(above, threads, found, "o-", way)
            for count in parallel.threads_of(results, "levels"):
                levels = parallel.levels_of(results, count)
                found = [parallel.point(results, "levels", op, way, count, level) for level in levels]
                curve(below, levels, found, "-", f"{way}, {count} threads")
        whole_numbers(above, threads)
        above.set_xlabel(f"threads, level {parallel.LEVEL}")
        above.set_ylim(bottom=0)
        below.set_xlabel("level, all cores")
        below.set_ylim(bottom=0)
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="lower center", ncols=3)
    save(figure, path)


def parallel_model_plot(results: Results, path: Path) -> None:
    """The model of the same curves for more threads: a model, not a measurement."""
    figure, axes = panels(2)
    threads = parallel.threads_of(results, "threads", model=True)
    for op, above, below in zip(parallel.OPS, *axes, strict=True):
        for way in parallel.WAYS:
            times = [parallel.point(results, "threads", op, way, n, parallel.LEVEL, True, "work_ns") for n in threads]
            curve(above, threads, times, "o--", f"model, {way}")
            for count in parallel.threads_of(results, "levels", model=True):
                levels = parallel.levels_of(results, count, model=True)
                times = [parallel.point(results, "levels", op, way, count, n, True, "work_ns") for n in levels]
                curve(below, levels, times, "--", f"model, {way}")
        for axis, figure_name, places in [(above, "threads", threads), (below, "levels", None)]:
            counts = parallel.threads_of(results, figure_name, model=True)
            if figure_name == "threads":
                points = [(n, n, parallel.LEVEL) for n in places or []]
            else:
                points = [(n, count, n) for count in counts for n in parallel.levels_of(results, count, model=True)]
            memory = [
                parallel.point(results, figure_name, op, parallel.WAYS[0], count, level, True, "memory_ns")
                for _, count, level in points
            ]
            curve(axis, [place for place, _, _ in points], memory, "k:", "memory of this machine")
            axis.set_yscale("log")
            axis.yaxis.set_minor_formatter(NullFormatter())
        whole_numbers(above, threads)
        above.set_xlabel(f"threads, level {parallel.LEVEL}")
        below.set_xlabel("level, 16 threads")
    figure.suptitle("A model, not a measurement")
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="lower center", ncols=4)
    save(figure, path)
