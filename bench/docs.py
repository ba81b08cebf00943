"""Make what shows results: docs/comparison.md, docs/choosing.md, docs/kernels.md, tables of other pages, peers.json.

    python bench/docs.py [--host HOST] [--check]

Each page holds blocks between marks, which this program replaces; the text around them is written by hand. The results
are the newest of each suite in bench/results/HOST; suites that are not there are taken from other machines. The ratios
to other libraries that the advisor reads (bench/peer_ratios.py) are made here too.
"""

import argparse
import json
import re
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import peer_ratios
import records
from libraries import ROOT
from machine import RESULTS
from pages import (
    avx2,
    bootstrap,
    chain,
    choosing,
    cluster,
    cyclotomic,
    kernels,
    lookup,
    matvec,
    papers,
    parallel,
    schemes,
    summary,
    switching,
    targets,
    tfhe,
    trace,
    weak_client,
)
from records import Record, Results
from run import SUITES

PAGES = [
    ROOT / "README.md",
    ROOT / "docs" / "bootstrapping.md",
    ROOT / "docs" / "choosing.md",
    ROOT / "docs" / "cluster.md",
    ROOT / "docs" / "comparison.md",
    ROOT / "docs" / "cyclotomic.md",
    ROOT / "docs" / "kernels.md",
    ROOT / "docs" / "papers.md",
    ROOT / "docs" / "parallel.md",
    ROOT / "docs" / "switching.md",
]
FIGURES = ROOT / "docs" / "figures"
RECORDED = ROOT / "bench" / "recorded.json"

# What docs/papers.md alone shows.
PAPERS = "papers"

BLOCK = re.compile(
    r"(?P<start><!-- made by bench/docs\.py: (?P<name>[a-z0-9-]+) -->\n).*?(?P<end><!-- end of (?P=name) -->)",
    re.DOTALL,
)

# Folders of results, each with what its machine is.
Machines = Mapping[Path, Mapping[str, Any]]
Blocks = Mapping[str, Callable[[], str]]


class PageError(Exception):
    """A page asks for what there is not."""


def newest(folder: Path, suite: str) -> Path | None:
    """Return the newest results of a suite: names start with their date."""
    return max(folder.glob(f"????-??-??-{suite}.jsonl"), default=None)


def load(folder: Path, held: str = "") -> tuple[Results, list[Path]]:
    """Read the newest results of all suites of a machine, and those of other machines for suites that it lacks.

    held: the end of the suites' names where libraries are held to an instruction set.
    """
    others = [path.parent for path in folder.parent.glob("*/machine.json") if path.parent != folder]
    paths = []
    for suite in SUITES:
        if suite == PAPERS:
            # Its records are of operations that other suites measure too.
            continue
        elsewhere = [path for other in others if (path := newest(other, suite + held))]
        path = newest(folder, suite + held) or max(elsewhere, key=lambda path: path.name, default=None)
        paths += [path] if path else []
    return Results(record for path in paths for record in records.read(path)), paths


def load_papers(folder: Path) -> tuple[Results, list[Path]]:
    """Read the newest records for docs/papers.md, of this machine or else of another one."""
    elsewhere = [path for other in folder.parent.iterdir() if (path := newest(other, PAPERS))]
    path = newest(folder, PAPERS) or max(elsewhere, key=lambda path: path.name, default=None)
    return (Results(records.read(path)), [path]) if path else (Results([]), [])


def machines(paths: list[Path]) -> Machines:
    """Read what the machines are whose results these are."""
    return {
        folder: json.loads((folder / "machine.json").read_text()) for folder in {path.parent: None for path in paths}
    }


def about(found: Machines, paths: list[Path], results: Results) -> str:
    """Return what was measured, where and with what."""
    lines = []
    for folder, description in found.items():
        caches = ", ".join(f"{name} {amount}" for name, amount in description["caches"].items())
        names = ", ".join(f"`{path.name}`" for path in paths if path.parent == folder)
        lines += [
            f"{description['processor']} (family {description['family']}, model {description['model']}), "
            f"{description['cores']} cores; {caches}; {records.size(description['memory_bytes'])} of memory, "
            f"large pages `{description['large_pages']}`; Linux {description['kernel']}; {description['rustc']}, "
            f"{description['go']}, {description['cxx']}. Records: {names} in `bench/results/{folder.name}`.",
        ]
    versions = {(record["library"], record["version"]) for record in results.records}
    lines.append("Libraries: " + ", ".join(f"{library} {version}" for library, version in sorted(versions)) + ".")
    return "\n\n".join(lines)


def where(found: Machines) -> str:
    """Return in one sentence what the machines are."""
    names = {
        f"{description['processor']} (family {description['family']}, {description['cores']} cores)": None
        for description in found.values()
    }
    return f"Measured side by side in one run each, on {' and '.join(names)}."


def compared(folder: Path) -> tuple[choosing.Report | None, Results]:
    """Return the report and the records of the newest comparison of schemes and libraries."""
    path = choosing.newest(folder)
    data = json.loads(path.read_text()) if path else {"report": None, "records": []}
    return data["report"], Results(data["records"])


def blocks(
    results: Results,
    recorded: Record,
    found: Machines,
    paths: list[Path],
    report: choosing.Report | None = None,
    held: Results | None = None,
    nodes: cluster.Found | None = None,
    published: papers.Found | None = None,
) -> Blocks:
    """Return the maker of each block; held: the results of libraries held to AVX2, nodes: those of clusters.

    published: what docs/papers.md is made of.
    """
    items = published or papers.Found(results, Results([]), Results([]), recorded)
    threads = results.values("threads", suite="trace", library="noren")

    def each(maker: Callable[[Results, int], str]) -> Callable[[], str]:
        return lambda: "\n\n".join(f"{count} thread(s):\n\n{maker(results, count)}" for count in threads)

    return {
        "machine": lambda: about(found, paths, results),
        "targets": lambda: targets.targets_table(results, recorded),
        "summary": lambda: summary.block(results, where(found)),
        "ckks": lambda: schemes.comparison(results, "ckks", schemes.CKKS),
        "seal": lambda: schemes.seal_recorded(results, recorded),
        "trace-times": each(trace.times_table),
        "trace-gains": each(lambda results, count: trace.gains_table(results, recorded, count)),
        "trace-doubling": each(trace.doubling_table),
        "trace-summary": each(trace.summary),
        "trace-peers": each(trace.peers_table),
        "trace-program": lambda: trace.program_table(results, recorded),
        "trace-recorded": lambda: trace.recorded_table(results, recorded),
        "client": lambda: schemes.comparison(results, "client", schemes.CLIENT),
        "client-totals": lambda: schemes.client_totals(results),
        "client-recorded": lambda: schemes.client_recorded(results, recorded),
        "bootstrap": lambda: bootstrap.times_table(results, recorded),
        "bootstrap-precision": lambda: bootstrap.precision_table(results, recorded),
        "bootstrap-presets": lambda: bootstrap.presets_table(results),
        "bootstrap-stages": lambda: bootstrap.stages_table(results),
        "chain-bfv": lambda: chain.times_table(results, "bfv"),
        "chain-bgv": lambda: chain.times_table(results, "bgv"),
        "chain-ckks": lambda: chain.times_table(results, "ckks"),
        "chain-shapes": lambda: chain.shapes_table(results),
        "chain-recorded": lambda: chain.recorded_table(results, recorded),
        **{f"avx2-{suite}": partial(avx2.section, held or Results([]), suite) for suite in SUITES},
        "avx2-cyclotomic": lambda: cyclotomic.times_table(held or Results([]), recorded),
        "choosing-facts": lambda: choosing.facts(report),
        **{f"choosing-{name}": partial(choosing.section, report, name) for name in choosing.SECTIONS},
        "cluster": lambda: cluster.summary_table(nodes or {}),
        "cluster-nearest": lambda: cluster.nearest_lines(nodes or {}),
        "cluster-model": lambda: cluster.model_table(nodes or {}),
        "cluster-curve": lambda: cluster.curve_table(nodes or {}),
        "cyclotomic": lambda: cyclotomic.times_table(results, recorded),
        "cyclotomic-threads": lambda: cyclotomic.threads_table(results),
        "cyclotomic-share": lambda: cyclotomic.share_table(results, recorded),
        "cyclotomic-norm": lambda: cyclotomic.norm_table(results, recorded),
        "cyclotomic-rows": lambda: cyclotomic.rows_table(results),
        "lookup": lambda: lookup.times_table(results),
        "lookup-prepare": lambda: lookup.prepare_table(results),
        "lookup-recorded": lambda: lookup.recorded_table(results, recorded),
        "matvec": lambda: matvec.times_table(results),
        "switching": lambda: switching.times_table(results),
        "switching-signs": lambda: switching.signs_table(results),
        "weak-client": lambda: weak_client.devices_table(results),
        "weak-client-steps": lambda: weak_client.steps_table(results),
        "tfhe": lambda: "\n\n".join(
            f"{count} thread(s):\n\n{tfhe.single_table(results, count)}"
            for count in results.values("threads", **tfhe.SUITE)
        ),
        "tfhe-transforms": lambda: tfhe.transforms_table(results),
        "tfhe-batch": lambda: tfhe.batch_table(results),
        "tfhe-client": lambda: tfhe.client_table(results),
        "tfhe-integers": lambda: tfhe.integers_table(results),
        "ntt": lambda: kernels.transforms(results),
        "ntt-cold": lambda: kernels.cold(results),
        "elementwise": lambda: kernels.elementwise(results),
        "others": lambda: kernels.others(results),
        "memory": lambda: kernels.memory(results),
        **{f"papers-{name}": partial(maker, items) for name, maker in papers.BLOCKS.items()},
        "parallel-shape": lambda: parallel.memory_line(results),
        "parallel-threads": lambda: parallel.threads_table(results),
        "parallel-levels": lambda: parallel.levels_table(results),
        "parallel-wins": lambda: parallel.wins_table(results),
        "parallel-model": lambda: parallel.model_table(results),
    }


def fill(text: str, made: Blocks) -> str:
    """Replace all blocks of a page."""

    def replaced(match: re.Match[str]) -> str:
        name = match["name"]
        if name not in made:
            raise PageError(f"there is no block {name}")
        return f"{match['start']}{made[name]()}\n{match['end']}"

    filled = BLOCK.sub(replaced, text)
    marks = text.count("<!-- made by bench/docs.py")
    if marks != len(BLOCK.findall(text)):
        raise PageError("a block has no end")
    return filled


def usual_host() -> str | None:
    """Return the folder with results of the most suites, among these the one with the most records."""
    found: dict[str, list[int]] = {}
    for path in RESULTS.glob("*/*.jsonl"):
        found.setdefault(path.parent.name, []).append(len(path.read_text().splitlines()))
    return max(found, key=lambda host: (len(found[host]), sum(found[host])), default=None)


def main() -> int:
    """Fill the pages and draw the plots."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--host", help="the folder in bench/results [default: the one with the most suites]")
    parser.add_argument("--check", action="store_true", help="change nothing; fail if a file is not up to date")
    options = parser.parse_args()
    host = options.host or usual_host()
    if host is None or not (RESULTS / host / "machine.json").exists():
        print(f"no results of {host or 'any machine'} with a machine.json: run bench/run.py", file=sys.stderr)
        return 1
    results, paths = load(RESULTS / host)
    held, held_paths = load(RESULTS / host, "-avx2")
    paths += held_paths
    report, records_of_it = compared(RESULTS / host)
    own, own_paths = load_papers(RESULTS / host)
    recorded: Record = json.loads(RECORDED.read_text())
    of_papers = about(machines(own_paths), own_paths, own)
    published = papers.Found(results, own, records_of_it, recorded, of_papers)
    path = cluster.newest(RESULTS / host)
    nodes: cluster.Found = json.loads(path.read_text()) if path else {}
    made = blocks(results, recorded, machines(paths), paths, report, held, nodes, published)
    stale = []
    for page in PAGES:
        before = page.read_text()
        after = fill(before, made)
        if before != after:
            stale.append(page.name)
            if not options.check:
                page.write_text(after)
    ratios = peer_ratios.made(RESULTS)
    if not peer_ratios.FILE.exists() or peer_ratios.FILE.read_text() != ratios:
        stale.append(peer_ratios.FILE.name)
        if not options.check:
            peer_ratios.FILE.write_text(ratios)
    if options.check:
        print("\n".join(f"not up to date: {name}" for name in stale), file=sys.stderr)
        return 1 if stale else 0
    for name, picture in choosing.figures(report):
        (FIGURES / name).write_text(picture)
    # Only here, so that the tables can be made without matplotlib.
    from pages import plots

    plots.summary_plot(results, FIGURES / "summary.svg")
    if results.select(suite="trace"):
        plots.trace_plot(results, FIGURES / "trace.svg")
    if bootstrap.staged(results):
        plots.bootstrap_plot(results, FIGURES / "bootstrap.svg")
    if results.select(suite="kernels"):
        plots.elementwise_plot(results, FIGURES / "elementwise.svg")
    if "curve" in nodes:
        plots.cluster_plot(nodes["curve"], FIGURES / "cluster-model.svg")
    if results.select(suite="parallel"):
        plots.parallel_plot(results, FIGURES / "parallel.svg")
        plots.parallel_model_plot(results, FIGURES / "parallel-model.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
