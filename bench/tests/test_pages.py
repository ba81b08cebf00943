"""The pages: every block is known, tables say what the records say, targets are met or missed."""

import itertools
import json
import re

import pytest
from test_records import record

import docs
import machine
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
    switching,
    targets,
    tfhe,
    trace,
    weak_client,
)
from records import Record, Results

RECORDED: Record = json.loads(docs.RECORDED.read_text())
MACHINE: Record = json.loads(
    '{"processor": "P", "family": "1", "model": "2", "cores": 2, "caches": {}, "memory_bytes": 1, "large_pages": "no",'
    ' "kernel": "k", "rustc": "r", "go": "g", "cxx": "c"}'
)


def grid() -> list[Record]:
    """Return a full grid of sums: h = 3 is the best, and AVX-512 gains a factor of four."""
    made = []
    for (special, level), threads in itertools.product(trace.CELLS, [1, 2]):
        cell = {"suite": "trace", "op": "trace", "n": 32768, "special": special, "level": level, "threads": threads}
        mine = {**cell, "library": "noren"}
        for h, (isa, factor) in itertools.product(trace.ITERATIONS, [("avx512", 1), ("portable", 4)]):
            time = 1e6 * (level + abs(h - 3)) * factor
            fields = {"h": h, "isa": isa, "median_ns": time, "auto": h == 4, "auto_default": h == 3}
            made.append(record(**mine, **fields, key_bytes=1 << 20))
        for isa, factor in [("avx512", 1), ("portable", 4)]:
            made.append(record(**mine, method="doubling", isa=isa, median_ns=6e6 * level * factor))
            made.append(record(**{**mine, "op": "field_trace"}, h=3, isa=isa, median_ns=2e6 * level * factor))
        made.append(record(**cell, library="lattigo", method="InnerSum", median_ns=1e7 * level))
    return made


def rows() -> list[Record]:
    """Return element-wise operations and transforms of two sizes."""
    made = []
    times = {"add": 10, "mul": 20, "mul_add": 30, "mul_then_add": 45, "ntt_forward": 100, "ntt_inverse": 100}
    for (op, time), n, isa in itertools.product(times.items(), [64, 4096], kernels.ISAS):
        fields = {"suite": "kernels", "op": op, "n": n, "isa": isa, "prime_bits": 48}
        made.append(record(**fields, library="noren", median_ns=float(time * (1 if isa == "avx512" else 5))))
        if op.startswith("ntt") and isa == "avx512":
            made.append(record(**fields, library="tfhe-ntt", median_ns=150.0))
    return made


def bootstraps() -> list[Record]:
    """Return set-ups, bootstraps and stages of noren, and of a peer that takes ten times as long."""
    made = []
    runs = [
        ("noren", "n16", "complex", 1.0),
        ("noren", "n16", "real", 0.75),
        ("lattigo", "N16QP1546H192H32", "complex", 10.0),
        # Other sets of ours stand in a table of their own.
        ("noren", "n16-small", "complex", 1.5),
    ]
    for (library, name, mode, time), threads in itertools.product(runs, [1, 2]):
        common = {"suite": "bootstrap", "library": library, "set": name, "mode": mode, "threads": threads}
        common |= {"n": 1 << 16, "log_qp": 1743.0, "security": "128", "slots": 1 << 15, "peak_rss_bytes": 8 << 30}
        time *= 1e9 / threads
        made.append(record(**common, op="setup", median_ns=4 * time))
        bits = {"one-hot": [20.9, 23.7], "alternating": [21.2, 23.6]}
        more: Record = {"levels_left": 12, "level_bits": 42.0, "worst_bits": 20.9, "rms_bits": 23.6, "precision": bits}
        more |= {"key_bytes": 4 << 30, "disk_bytes": 2_000_000_000, "log2_failure": -75.0}
        if library == "noren":
            more |= {"predicted_bits": 21.6, "predicted_bytes": 7 << 30, "secure_log_qp": 1747.0}
        made.append(record(**common, op="bootstrap", median_ns=time, **more))
        stages = (
            {"coeff_to_slot": 0.5, "exponential": 0.375, "series": 0.125} if library == "noren" else {"eval_mod": 1.0}
        )
        made += [record(**common, op="stage", stage=stage, median_ns=time * part) for stage, part in stages.items()]
    return made


def made(records: list[Record]) -> docs.Blocks:
    host = machine.RESULTS / "host"
    return docs.blocks(Results(records), RECORDED, {host: MACHINE}, [host / "2026-01-01-ckks.jsonl"])


def test_every_block_of_every_page_is_known_and_made() -> None:
    blocks = made(grid() + rows() + bootstraps() + chains())
    for page in docs.PAGES:
        text = page.read_text()
        names = re.findall(r"<!-- made by bench/docs.py: ([a-z-]+) -->", text)
        assert names
        filled = docs.fill(text, blocks)
        assert docs.fill(filled, blocks) == filled


def test_every_block_can_be_made_without_records() -> None:
    for name, maker in made([record(library="noren")]).items():
        assert isinstance(maker(), str), name


def test_text_around_blocks_stays() -> None:
    page = "before\n<!-- made by bench/docs.py: a -->\nold\n<!-- end of a -->\nafter\n"
    assert docs.fill(page, {"a": lambda: "new"}) == page.replace("old", "new")


@pytest.mark.parametrize(
    "page", ["<!-- made by bench/docs.py: a -->\n", "<!-- made by bench/docs.py: b -->\n<!-- end of b -->"]
)
def test_blocks_without_end_or_maker_are_refused(page: str) -> None:
    with pytest.raises(docs.PageError):
        docs.fill(page, {"a": lambda: "new"})


def test_the_best_is_bold_and_the_choice_of_the_model_has_a_star() -> None:
    results = Results(grid())
    lines = trace.times_table(results, 1).splitlines()
    assert len(lines) == 2 + 7
    assert lines[0].startswith("| h \\ special/level | 1/1 | 1/4 | 1/9 | 5/1 |")
    assert lines[4].startswith("| 3 | 4.00 / **1.00** |")
    assert lines[5].startswith("| 4 | 8.00 / 2.00\\* |")


def test_gains_are_portable_over_fast() -> None:
    results = Results(grid())
    assert trace.least_vector_gain(results, 2) == 4
    assert trace.gains_table(results, RECORDED, 1).splitlines()[2].startswith("| 1 | 4.00 / 1.75 | 4.00 / 2.04 |")
    assert trace.gains_table(results, RECORDED, 2).splitlines()[2].startswith("| 1 | 4.00 / 1.37 | 4.00 / 1.51 |")


def test_unrolling_is_compared_with_repeated_doubling() -> None:
    results = Results(grid())
    assert trace.over_doubling(results, trace.Cell(1, 1, 1), "avx512") == 6
    milliseconds, *rows = trace.doubling_table(results, 1).splitlines()[2:]
    assert milliseconds.startswith("| ms | 6.00 | 24.0 | 54.0 |")
    assert rows[2].startswith("| 3 | 6.00 | 6.00 | 6.00 |")
    assert rows[6].startswith("| 7 | 1.20 | 3.00 |")


def test_the_summary_shows_both_models_and_the_field_trace() -> None:
    row = trace.summary(Results(grid()), 1).splitlines()[2]
    assert row == "| 1/1 | 3 | 1.00 | 4 | 100% | 3 | 0% | 6.00 | 6.00 | 1.00 MiB | 1.00 B | 2.00 |"


def test_the_published_program_is_compared_at_the_same_h() -> None:
    lines = trace.program_table(Results(grid()), RECORDED).splitlines()[2:]
    assert lines[2].startswith("| 3 | 60.0 / 60.00 |")
    assert len(lines) == 5


def test_targets_are_met_missed_or_not_measured() -> None:
    found = {target.what: target for target in targets.targets(Results(grid() + rows()), RECORDED)}

    def verdict(what: str) -> list[str]:
        return found[what].row()[2:]

    assert verdict("trace, every cell, best h, against Lattigo's InnerSum") == ["10.0x", "met"]
    assert verdict("trace, every cell, best h, against OpenFHE's rotate and sum") == ["not measured", ""]
    assert verdict("addition, AVX-512 over portable, every size that fits the L2") == ["5.00x", "**missed**"]
    assert verdict("fused multiply-add over multiply, then add, AVX-512, every size") == ["1.50x", "met"]
    assert verdict("forward NTT, AVX-512, against tfhe-ntt, N = 2^12, 2^15 and 2^16") == ["1.50x", "met"]
    # Two against one of the best h, at level 1.
    assert verdict("trace, the calibrated model's h over the best, every cell, 1 thread(s)") == ["100%", "**missed**"]
    assert verdict("trace, the fixed model's h over the best, every cell, 2 thread(s)") == ["0%", "met"]
    assert verdict("records that state their peak memory") == ["100%", "met"]


def test_recorded_figures_are_the_best_of_all_iterations() -> None:
    cell = trace.Cell(1, 9, 1)
    assert trace.recorded_best(RECORDED, "Inoue et al.'s program, HEXL", cell) == 544
    assert trace.recorded_best(RECORDED, "SEAL+HEXL, doubling", trace.Cell(5, 1, 1)) is None


def test_bootstraps_are_compared_in_the_same_mode_with_as_many_threads() -> None:
    lines = bootstrap.times_table(Results(bootstraps()), RECORDED).splitlines()[2:]
    memory = "4.00 GiB | 1.86 GiB | 8.00 GiB | 2^-75 |"
    assert lines[0] == f"| noren n16 | complex | 1 | 1.00 |  | 0.0305 | 4.00 |  | 12 x 42 bits | {memory}"
    assert lines[5].startswith("| lattigo N16QP1546H192H32 | complex | 2 | 5.00 | 10.00 | 0.153 | 20.0 | 10.00 |")
    assert len(lines) == 6 + len(RECORDED["bootstrap"]["runs"])
    assert lines[6].startswith("| Lattigo N16QP1546H192H32, recorded | complex | 1 | 12.8 |  | 0.391 | 67.0 |")


def test_sets_of_ours_have_figures_expected_and_measured() -> None:
    lines = bootstrap.presets_table(Results(bootstraps())).splitlines()[2:]
    start = "N = 2^16 | 128 bits | 1743 / 1747 | 12 x 42 bits | 21.6 / 20.9 | 2^-75 |"
    memory = "7.00 GiB / 8.00 GiB / 8.00 GiB"
    assert lines == [
        f"| n16, {start}  |  |  | {memory} | 4.00 / 2.00 | 1.00 / 0.500 |",
        f"| n16-small, {start}  |  |  | {memory} | 6.00 / 3.00 | 1.50 / 0.750 |",
    ]


def test_precision_is_shown_once_for_all_threads() -> None:
    lines = bootstrap.precision_table(Results(bootstraps()), RECORDED).splitlines()[2:]
    first = "| noren n16 | complex |  |  |  |  | 20.9 / 23.7 | 21.2 / 23.6 | 20.9 / 23.6 |"
    assert lines[0] == first
    assert [line.split("|")[1].strip() for line in lines[:4]] == [
        "noren n16",
        "noren n16",
        "lattigo N16QP1546H192H32",
        "Lattigo N16QP1546H192H32, recorded",
    ]


def test_stages_of_all_libraries_have_the_same_names() -> None:
    lines = bootstrap.stages_table(Results(bootstraps())).splitlines()[2:]
    assert lines[0] == "| noren n16 | complex | 1 | 0.00 (0%) | 0.00 (0%) | 0.500 (50%) | 0.500 (50%) | 1.00 |"
    assert lines[4].endswith("| 10.0 (100%) | 10.0 |")


def test_targets_of_bootstrapping_say_what_is_missed() -> None:
    found = {target.what: target.row()[2:] for target in targets.bootstrap_targets(Results(bootstraps()))}
    assert found["bootstrap, 1 thread, against lattigo N16QP1546H192H32"] == ["10.0x", "met"]
    assert found["bootstrap, 2 threads over 1"] == ["2.00x", "met"]
    assert found["bootstrap, real messages over complex ones"] == ["0.750x", "**missed**"]
    assert found["bootstrap, precision of the worst slot, every kind of message"] == ["20.9 bits", "**missed**"]
    assert found["bootstrap, levels left"] == ["12.0", "met"]
    assert found["bootstrap, log2 of the failure probability of 100"] == ["-75.0", "met"]
    assert found["bootstrap, keys on disk"] == ["2.00 GB", "met"]
    assert found["bootstrap, 1 thread, against openfhe sparse encapsulation"] == ["not measured", ""]


def chains() -> list[Record]:
    """Return chains of BFV: noren in 10 and 100 ms, OpenFHE in four times that and twice the memory."""
    made = []
    for depth, time in [(2, 1e7), (10, 1e8)]:
        cell = {"suite": "chain", "scheme": "bfv", "depth": depth, "log_q": 50.0, "threads": 1, "n": 1 << 15}
        for (library, factor), (op, peak) in itertools.product(
            [("noren", 1), ("openfhe", 4)], [("chain", 3 << 20), ("chain_squares", 2 << 20)]
        ):
            measured = {"median_ns": time * factor, "peak_rss_bytes": peak * (2 if factor > 1 else 1)}
            made.append(record(**cell, op=op, library=library, **measured))
    return made


def test_chains_of_different_depths_and_schemes_are_different_things() -> None:
    other = [one | {"scheme": "bgv"} for one in chains()]
    assert len(Results(chains() + other).records) == 16


def test_chains_show_times_ratios_and_the_higher_peak_of_both_kinds() -> None:
    lines = chain.times_table(Results(chains()), "bfv").splitlines()[2:]
    assert lines[1] == "| 2 | 1 | squares | 10.0 | 40.0 | 4.00 | 3.00 MiB | 6.00 MiB |"
    assert lines[2] == "| 10 | 1 | products | 100 | 400 | 4.00 | 3.00 MiB | 6.00 MiB |"


def test_recorded_chains_stand_beside_ours() -> None:
    line = chain.recorded_table(Results(chains()), RECORDED).splitlines()[2]
    assert line == "| bfv | SEAL+HEXL | 32.0 / 3.20 | 96.0 | 191 | 313 | 465 / 4.65 |"


def test_targets_of_chains_take_the_worst_depth_and_the_peak_memory() -> None:
    found = {target.what: target.row()[2:] for target in targets.chain_targets(Results(chains()), RECORDED)}
    assert found["chain of 10 products, bfv, against SEAL+HEXL as recorded"] == ["4.65x", "met"]
    assert found["chains, bfv, every depth, against openfhe"] == ["4.00x", "**missed**"]
    assert found["chains, every scheme and depth, peak memory over that of openfhe"] == ["0.500x", "met"]
    assert found["chains, ckks, every depth, against lattigo"] == ["not measured", ""]


def matvecs() -> list[Record]:
    """Return matrices times vectors: noren in 100 ms, a peer in 500 and 400 ms."""
    runs = [("noren", 64, 1e8), ("lattigo", 16, 5e8), ("lattigo", 32, 4e8)]
    cell = {"suite": "matvec", "op": "matvec", "dimension": 512, "threads": 1, "n": 1 << 14, "keys": 70}
    return [record(**cell, library=name, baby_steps=steps, median_ns=time) for name, steps, time in runs]


def test_matrices_show_every_number_of_baby_steps_and_the_best_counts() -> None:
    results = Results(matvecs())
    lines = matvec.times_table(results).splitlines()[2:]
    assert [line.rsplit(" | ", 1)[0] for line in lines] == [
        "| noren | 1 | 64 | 70 | 100 | ",
        "| lattigo | 1 | 16 | 70 | 500 | 5.00",
        "| lattigo | 1 | 32 | 70 | 400 | 4.00",
    ]
    found = [target.row()[2:] for target in targets.matvec_targets(results, RECORDED)]
    assert found == [["4.00x", "met"], ["4.83x", "met"]]


def cyclotomics() -> list[Record]:
    """Return the operations of two sets: of one in 100 ms, and of 2^59 in 500 ms; two threads take half the time."""
    cell = {"suite": "cyclotomic", "library": "noren", "entries": "elements"}
    runs = [((15709, 2, 1), 1e8), ((15709, 2, 59), 5e8)]
    made = []
    for (m, p, r), ns in runs:
        of = {"m": m, "p": p, "r": r}
        for threads in [1, 2]:
            made += [record(**cell, **of, op=op, threads=threads, median_ns=ns / threads) for op in cyclotomic.OPS]
        row = cell | {"entries": None, "threads": 1, "n": 15000} | of
        made.append(record(**row, op="norm_fft", median_ns=1e5))
        for isa, time in [("portable", 4e6), ("avx2", 2e6), ("avx512", 1e6)]:
            made += [record(**row, op=op, isa=isa, median_ns=time) for op in ["norm_horner", "add", "mul"]]
        if r == 1:
            made.append(record(**cell | {"library": "helib"}, **of, op="matvec", threads=1, median_ns=8e8))
    return made


def test_products_in_rings_of_general_index_stand_beside_helib_and_the_publication() -> None:
    results = Results(cyclotomics())
    rows = cyclotomic.times_table(results, RECORDED).splitlines()[2:]
    assert rows[3].startswith("| (15709, 2, 1) | product | 100 | 800 | 8.00 | 11.15 | 8.48 |")
    assert cyclotomic.threads_table(results).splitlines()[3].endswith("| product | 100 | 50.0 | 2.00 |")
    assert "| 62.8 / 25.0 |" in cyclotomic.share_table(results, RECORDED)
    assert (
        cyclotomic.norm_table(results, RECORDED)
        .splitlines()[2]
        .endswith("| 0.100 | 0.217 | 2.17 | 4.00 | 1.00 | 4.00 |")
    )
    assert cyclotomic.rows_table(results).splitlines()[2].endswith("| 4000 | 1000 | 4.00 | 4000 | 1000 | 4.00 |")
    found = {target.what: target.row()[2:] for target in targets.cyclotomic_targets(results, RECORDED)}
    what = "matrix times vector, rings of general index"
    assert found[f"{what}, (15709, 2, 1) and (24295, 2, 1), against HElib"] == ["8.00x", "met"]
    assert found["rings of general index: keys, m = 15709 and 24295, against HElib"] == ["11.8x", "met"]
    assert found[f"{what}, the other four sets, against HElib+HEXL as recorded"] == ["not measured", ""]
    assert found["product, (15709, 2, 59)"] == ["500 ms", "**missed**"]
    assert found["canonical norm, m = 15709"] == ["0.100 ms", "met"]
    over = "rows of rings of general index, the fastest kernels over portable"
    assert found[f"sums, {over}"] == ["4.00x", "**missed**"]
    assert found[f"products, {over}"] == ["4.00x", "met"]


def lookups() -> list[Record]:
    """Return lookups by three methods, and a preparation."""
    cell = {"suite": "lookup", "library": "noren", "n": 1 << 15, "threads": 1, "products": 33, "rotations": 9}
    runs = [("lookup_fast", 2e9), ("lookup_linear", 3e10), ("lookup_maeda", 4e10)]
    made = [record(**cell, op=op, median_ns=time, matrix_ns=time / 2) for op, time in runs]
    made += [record(**{**cell, "threads": 2}, op=op, median_ns=time / 2) for op, time in runs[1:]]
    made.append(
        record(**{**cell, "threads": 2}, op="lookup_prepare", method="fast", median_ns=9e9, matrix_bytes=1 << 30)
    )
    return made


def test_lookups_show_steps_and_what_others_took() -> None:
    results = Results(lookups())
    lines = lookup.times_table(results).splitlines()[2:]
    assert lines[0].startswith("| fast: the matrix at few limbs | 1 | 2.00 |  |  |  | 1.00 |  |  | 33 | 9 |")
    assert lookup.prepare_table(results).splitlines()[2].endswith("| 2 | 9.00 | 1.00 GiB |")
    assert lookup.recorded_table(results, RECORDED).splitlines()[2].endswith("| 332 | 11.07 | 166.00 |")
    found = {target.what: target.row()[2:] for target in targets.lookup_targets(results)}
    assert found["lookup, N = 2^15, 1 thread(s)"] == ["2.00 s", "met"]
    assert found["lookup, the published matrix over the published polynomial"] == ["75%", "**missed**"]
    assert found["lookup, N = 2^15, 2 thread(s)"] == ["not measured", ""]


def samples() -> list[Record]:
    """Return gates of bits: 3 ms, 2 ms in batches; a peer with two sets, of 8 and 7 ms."""
    cell = {"suite": "tfhe", "workload": "BOOL", "op": "gate", "threads": 1, "n": 512}
    made = [record(**cell, library="noren", batch=batch, median_ns=time) for batch, time in [(1, 3e6), (64, 2e6)]]
    sets = [("slow", 8e6), ("fast", 7e6)]
    for batch, (name, time) in itertools.product([1, 64], sets):
        made.append(record(**cell, library="tfhe-rs", batch=batch, set=name, median_ns=time))
    keys = {**cell, "workload": "client-BOOL", "op": "client_keys", "batch": 1, "median_ns": 1e8}
    made += [record(**keys, library=name, peak_rss_bytes=peak) for name, peak in [("noren", 5e7), ("tfhe-rs", 3e8)]]
    sums = {**cell, "workload": "u8", "op": "add", "batch": 1, "threads": 2}
    return [*made, *(record(**sums, library=name, median_ns=time) for name, time in [("noren", 2e7), ("tfhe-rs", 3e7)])]


def test_samples_stand_beside_the_fastest_set_of_a_peer() -> None:
    results = Results(samples())
    assert tfhe.single_table(results, 1).splitlines()[2:] == [
        "| `BOOL`: bits, 2^-64 | gate | 3.00 | 7.00 | 2.33 |  |  |"
    ]
    assert tfhe.batch_table(results).splitlines()[3] == "| `BOOL` | 1 | 64 | 2.00 | 500 | 7.00 | 3.50 |"
    assert tfhe.client_table(results).splitlines()[2] == "| `BOOL` | 1 | noren | 100 | 47.7 MiB |"
    assert tfhe.integers_table(results).splitlines()[2:] == ["| `u8` | x + y | 2 | 20.0 | 30.0 | 1.50 |"]


def test_targets_of_samples_take_the_worst_batch_and_width() -> None:
    found = {target.what: target.row()[2:] for target in targets.tfhe_targets(Results(samples()), RECORDED)}
    assert found["gate, failure 2^-64, 1 thread"] == ["3.00 ms", "met"]
    assert found["gate, batches of 64 and 512, against tfhe-rs, 1 thread(s)"] == ["3.50x", "met"]
    assert found["keys of a client, BOOL, peak memory"] == ["50.0 MB", "met"]
    assert found["integers, x + y, 8 to 32 bits, against tfhe-rs, 2 threads"] == ["1.50x", "**missed**"]
    assert found["bootstrap, 2_2, against tfhe-rs, 1 thread"] == ["not measured", ""]


def switched() -> list[Record]:
    """Return signs of 16 values, of a peer too, and the way to samples of all slots."""
    cell = {"suite": "switching", "threads": 1, "n": 1 << 16, "peak_rss_bytes": 1 << 30}
    made = []
    for library, name, factor in [("noren", "n16", 1), ("openfhe", "STD128, log q 16", 5)]:
        few = {**cell, "library": library, "set": name, "values": 16, "slots": 16}
        made.append(record(**few, op="setup", median_ns=1e9 * factor, switch_key_bytes=factor << 20))
        more: Record = {"dead_zone": 0.02 / factor, "log2_failure": -64, "worst_bits": 20.0, "rms_bits": 21.0}
        made.append(record(**few, op="sign", median_ns=2e9 * factor, levels_left=12, **more))
    made.append(record(**cell, library="noren", op="down", set="n16", values=1 << 15, slots=1 << 15, median_ns=5e8))
    return made


def test_signs_stand_beside_those_of_openfhe() -> None:
    results = Results(switched())
    assert switching.gain(results, "sign", 16, 1) == 5
    assert switching.times_table(results).splitlines()[2:] == [
        "| 16 | set-up with keys | 1 | 1.00 | 5.00 | 5.00 | 1.00 GiB | 1.00 GiB |",
        "| 16 | signs | 1 | 2.00 | 10.0 | 5.00 | 1.00 GiB | 1.00 GiB |",
        "| 32768 | to samples | 1 | 0.500 |  |  | 1.00 GiB |  |",
    ]
    assert switching.signs_table(results).splitlines()[2:] == [
        "| 16 | noren | n16 | 0.0200 | 2^-64 | 20.0 | 21.0 | 12 | 1.00 MiB |",
        "| 16 | openfhe | STD128, log q 16 | 0.0040 | 2^-64 | 20.0 | 21.0 | 12 | 5.00 MiB |",
    ]


def test_a_weak_client_has_the_time_of_what_it_does_once_and_the_memory_of_its_process() -> None:
    cell = {"suite": "weak-client", "library": "noren", "threads": 1, "n": 1 << 16, "part": "own"}
    made = []
    for isa, factor in [("avx512", 1.0), ("avx2", 2.0)]:
        common = {**cell, "isa": isa}
        made += [
            record(**common, op="context", median_ns=1e8 * factor, peak_rss_bytes=8 << 20),
            record(**common, op="light_keys", median_ns=2e8 * factor, peak_rss_bytes=9 << 20, file_bytes=3 << 20),
            record(**common, op="encode", median_ns=1e6, peak_rss_bytes=32 << 20),
            record(
                **common, op="encrypt_secret", median_ns=2e6, first_ns=1e8, peak_rss_bytes=30 << 20, file_bytes=1 << 20
            ),
        ]
    results = Results(made)
    assert weak_client.devices_table(results).splitlines()[2] == (
        "| the client: secrets, light keys, encryption, decryption | 0.40 | 0.70 | 32.0 MiB | 4.00 MiB |"
    )
    steps = weak_client.steps_table(results).splitlines()[2:]
    assert "| secret and light keys of TFHE | 200 | 400 | 3.00 MiB |" in steps
    assert "| public key |  |  |  |" in steps


def test_sections_of_a_comparison_become_blocks_of_the_page() -> None:
    table = {"caption": "Times", "header": ["n", "noren"], "rows": [["2", "1.5 ms"]]}
    plot = {"title": "BFV: time, of a chain", "svg": "<svg/>"}
    blocks = [{"text": "Words."}, {"list": ["one", "two"]}, {"table": table}, {"plots": [plot]}]
    sections = [{"id": "chains", "heading": "Chains", "blocks": blocks}]
    report = {"title": "T", "facts": [["Date", "2026-11-25"]], "sections": sections}
    made = docs.blocks(Results([]), RECORDED, {}, [], report)
    assert made["choosing-facts"]() == "- Date: 2026-11-25"
    words, items, caption, rows, figure = made["choosing-chains"]().split("\n\n")
    assert (words, items, caption) == ("Words.", "- one\n- two", "Times:")
    assert rows.splitlines()[-1] == "| 2 | 1.5 ms |"
    assert figure == "![BFV: time, of a chain](figures/choosing-chains-bfv-time-of-a-chain.svg)"
    assert list(choosing.figures(report)) == [("choosing-chains-bfv-time-of-a-chain.svg", "<svg/>\n")]


def test_a_comparison_that_was_not_recorded_leaves_blocks_that_say_so() -> None:
    made = docs.blocks(Results([]), RECORDED, {}, [])
    assert made["choosing-facts"]() == made["choosing-product"]() == choosing.NOTHING
    assert list(choosing.figures(None)) == []


def test_libraries_that_are_held_to_avx2_stand_beside_each_other_without_other_tables() -> None:
    kernel = {"suite": "kernels", "n": 1024, "threads": 1, "prime_bits": 48}
    rows = [
        record(**kernel, op="ntt_forward", library="noren", isa="avx2", median_ns=1e3),
        record(**kernel, op="ntt_forward", library="noren", isa="avx512", median_ns=1e2),
        record(**kernel, op="ntt_forward", library="tfhe-ntt", isa="avx2", median_ns=3e3),
        record(**kernel, op="mul", library="noren", isa="avx2", median_ns=1e3),
    ]
    table = avx2.section(Results(rows), "kernels")
    assert table.startswith("1 thread(s):")
    assert "| 1.00 | 3.00 | 3.00 |" in table
    assert "mul" not in table
    assert avx2.section(Results(rows), "ckks") == "Not measured."


def test_clusters_are_shown_as_they_were_measured() -> None:
    found = {
        "machine": {"processor": "P", "family": "1", "cores": 2, "python": "3", "date": "2026-01-01"},
        "overhead": {"seconds": {"0": 0.002, "8388608": 0.018777216}},
        "scaling": {"rows": [{"task_seconds": 0.05, "one": 6.0, "two": 3.0, "equal": True}]},
        "keys": {"mapped": 1 << 30, "by_workers": {"4": {"shares": 1 << 30, "own": 1, "workers": 4}}},
        "stream": {"ciphertexts": 10240, "item_bytes": 1 << 20, "seconds": 100.0, "peak": 1 << 29},
        "model": {"rows": [{"job": "asleep", "slots": 16, "measured": 10.0, "predicted": 9.0, "efficiency": 0.95}]},
        "nearest": {"output": ["all right"], "peak": 1 << 29},
    }
    table = cluster.summary_table(found)
    assert table.startswith("P (family 1), 2 cores")
    assert "| a task that does nothing, one worker | 2.00 ms |" in table
    assert "| each byte of item and result besides | 1.00 GB/s |" in table
    assert "| tasks of 50.0 ms: 2 workers over 1, with the bytes of both | 2.00, equal |" in table
    assert "| keys of 1.00 GiB, 4 worker(s): memory of the keys, all together | 1.00 copies |" in table
    assert "| peak memory of the driver then | 512 MiB |" in table
    assert "| asleep | 16 | 10.0 | 9.00 | 0.90 | 0.95 |" in cluster.model_table(found)
    assert "all right" in cluster.nearest_lines(found)
    assert {cluster.summary_table({}), cluster.curve_table({}), cluster.model_table({})} == {cluster.NOTHING}
