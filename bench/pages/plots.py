"""Plots of the pages."""

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pages import bootstrap, kernels, parallel, trace
from records import Results

mpl.use("svg")
# The same records give the same file.
mpl.rcParams.update(
    {
        "svg.hashsalt": "noren",
        "svg.fonttype": "none",
        "font.size": 8,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
)
METADATA = {"Date": None, "Creator": None}


def save(figure: Figure, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata=METADATA, bbox_inches="tight")
    plt.close(figure)


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
        figure.legend(handles.values(), handles.keys(), loc="lower center", ncols=3, frameon=False)
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
    axis.legend(frameon=False)
    save(figure, path)


def bootstrap_plot(results: Results, path: Path) -> None:
    """Times of stages, one bar for each run."""
    runs = bootstrap.staged(results)
    figure, axis = plt.subplots(figsize=(7, 0.6 + 0.35 * len(runs)))
    labels = [f"{run['library']} {run['set']}, {run['mode']}, {run['threads']} thread(s)" for run, _ in runs]
    left = [0.0] * len(runs)
    for name in bootstrap.STAGES:
        widths = [stages[name] / 1e9 for _, stages in runs]
        axis.barh(labels, widths, left=left, label=name, height=0.6)
        left = [start + width for start, width in zip(left, widths, strict=True)]
    axis.invert_yaxis()
    axis.set_xlabel("s")
    axis.legend(frameon=False)
    save(figure, path)


def panels(rows: int) -> tuple[Figure, list[list[Axes]]]:
    """Return a figure with a column for each operation."""
    figure, axes = plt.subplots(rows, len(parallel.OPS), figsize=(11, 2.4 * rows), squeeze=False)
    for axis, op in zip(axes[0], parallel.OPS, strict=True):
        axis.set_title(op)
    for line in axes:
        line[0].set_ylabel("ms")
    figure.subplots_adjust(hspace=0.4, wspace=0.3, bottom=0.2)
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
        above.set_xscale("log", base=2)
        above.set_xlabel(f"threads, level {parallel.LEVEL}")
        above.set_ylim(bottom=0)
        below.set_xlabel("level, all cores")
        below.set_ylim(bottom=0)
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="lower center", ncols=3, frameon=False)
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
            axis.set_ylim(bottom=0)
        above.set_xscale("log", base=2)
        above.set_xlabel(f"threads (model), level {parallel.LEVEL}")
        below.set_xlabel("level, 16 threads (model)")
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="lower center", ncols=4, frameon=False)
    save(figure, path)
