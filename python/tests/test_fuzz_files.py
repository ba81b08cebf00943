"""Changed files through the tool and Python: a short run with fixed seeds, and that it covers every kind of file."""

import re
import resource
from pathlib import Path

import numpy as np
import pytest

from fuzz_api import container
from fuzz_api.files import World, watched
from fuzz_api.mutate import CHANGES
from fuzz_api.readers import READERS
from fuzz_api.runner import Worker, show_finding
from fuzz_api.samples import NOT_WRITTEN, samples
from fuzz_api.schemes import FILES, SCHEMES
from fuzz_api.verdict import Finding
from noren import Error

ROOT = Path(__file__).parents[2]
CASES = 75
"""About half a minute."""


def test_changed_files_are_refused_or_used() -> None:
    worker = Worker()
    try:
        for seed in range(CASES):
            report = worker.run(f"{FILES}:{seed}")
            assert report["finding"] is None, show_finding(report)
    finally:
        worker.stop()


def refused_with_output(world: World) -> None:
    world.output(".ct").write_bytes(b"half")
    raise Error("refused")


def test_outputs_of_refusals_and_changed_inputs_are_findings() -> None:
    world = World.of("pairs.csv", samples(0).files["pairs.csv"])
    with pytest.raises(Finding, match="refused, but there are"):
        watched(world, lambda: refused_with_output(world))
    with pytest.raises(Finding, match="was changed"):
        watched(world, lambda: world.path.write_bytes(b"other"))
    # More than tests have taken before, whose most counts.
    size = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10) + (5 << 28)
    with pytest.raises(Finding, match="MiB for a file"):
        watched(world, lambda: np.ones(size, np.uint8).sum())


def test_there_is_a_file_of_every_kind() -> None:
    source = (ROOT / "crates/noren-rlwe/src/wire/kind.rs").read_text()
    kinds = {int(code, 16) for code in re.findall(r"^    [A-Z]\w+ = (0x[0-9a-f]{4}), ", source, re.MULTILINE)}
    assert len(kinds) > 40
    written = {container.kind(data) for data in samples(0).files.values()} - {None}
    assert written | NOT_WRITTEN.keys() == kinds
    assert not written & NOT_WRITTEN.keys()


def test_every_file_has_readers_that_take_it_unchanged() -> None:
    for name, data in samples(0).files.items():
        readers = [reader for reader in READERS if name in reader.takes]
        assert readers, name
        if name.startswith(("boot", "light")):
            continue
        for reader in readers:
            reader.run(World.of(name, data))


def test_containers_are_read_and_built_alike() -> None:
    for name, data in samples(0).files.items():
        if container.is_container(data):
            assert container.with_digest(container.build(data, container.sections(data))) == data, name


def test_every_change_is_drawn_with_both_digests() -> None:
    about = [set(World(np.random.default_rng([seed, 0])).about) for seed in range(400)]
    for change in CHANGES:
        for digest in ("old digest", "digest of what it holds"):
            assert any({f"change {change}", digest} <= one for one in about), (change, digest)


@pytest.mark.parametrize("seed", range(3))
def test_a_case_follows_from_its_seed(seed: int) -> None:
    one, two = (World(np.random.default_rng([seed, 0])) for _ in range(2))
    assert (one.name, one.data, one.way, one.text) == (two.name, two.data, two.way, two.text)
    assert SCHEMES[FILES].each
