"""Ratios to other libraries, as the advisor reads them."""

import json
from pathlib import Path

from test_records import record

import peer_ratios
from machine import RESULTS


def written(folder: Path, date: str, *lines: object) -> None:
    """Write results of one suite of a machine."""
    folder.mkdir(exist_ok=True)
    machine = {"processor": "abacus", "family": "1", "model": "2", "cores": 2}
    (folder / "machine.json").write_text(json.dumps(machine))
    (folder / f"{date}-chain.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def chain(library: str, depth: int, ns: float | None, **fields: object) -> object:
    """Return a record of a chain of BGV."""
    more = {"scheme": "bgv", "depth": depth, "median_ns": ns, "mad_ns": ns}
    return record(suite="chain", op="chain", library=library, **more, **fields)


def test_the_committed_file_is_what_the_records_give() -> None:
    assert peer_ratios.FILE.read_text() == peer_ratios.made(RESULTS)


def test_ratios_are_medians_over_operations_of_the_newest_run(tmp_path: Path) -> None:
    written(tmp_path / "old", "2026-01-01", chain("noren", 2, 1), chain("lattigo", 2, 100))
    times = {2: (10, 20), 4: (10, 50), 6: (10, 30), 8: (10, None)}
    lines = [chain("noren", depth, ours) for depth, (ours, _) in times.items()]
    lines += [chain("lattigo", depth, theirs) for depth, (_, theirs) in times.items()]
    # Twice the threads, another degree, and a peer without an operation of ours.
    lines += [chain("noren", 2, 5, threads=2), chain("lattigo", 2, 20, threads=2)]
    lines += [chain("noren", 10, 10), chain("lattigo", 10, 10, n=7), chain("openfhe", 12, 1)]
    written(tmp_path / "new", "2026-01-02", *lines)
    (peer,) = json.loads(peer_ratios.made(tmp_path))["peers"]
    assert (peer["scheme"], peer["library"], peer["encrypt"]) == ("bgv", "lattigo", [])
    one, two = peer["server"]
    assert (one["threads"], one["ratio"], one["least"], one["most"], one["rows"]) == (1, 3, 2, 5, 3)
    assert (two["threads"], two["ratio"], two["rows"]) == (2, 4, 1)
    assert one["records"] == "new/2026-01-02-chain.jsonl"
    assert "abacus" in one["machine"]


def test_times_that_belong_together_are_added() -> None:
    found = [
        record(suite="client", op=op, library=library, median_ns=ns)
        for library, op, ns in [("noren", "encode", 1), ("noren", "encrypt_secret", 3), ("openfhe", "encode", 2)]
    ]
    assert list(peer_ratios.times(peer_ratios.ENCRYPTION, found, "noren").values()) == [4]
    assert not peer_ratios.times(peer_ratios.ENCRYPTION, found, "openfhe")
