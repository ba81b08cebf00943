"""The model of `noren.cluster` against what is known without it."""

from dataclasses import replace

import pytest

pytest.importorskip("ray")

import itertools

from noren.cluster import ClusterError, Machines, Work, curve, predict
from noren.cluster._plan import DRIVER_SECONDS, EXPANSION, START_SECONDS, TASK_SECONDS

GIB = 1 << 30
ONE = Machines(nodes=1, cores=4, memory=16 * GIB)
EQUAL = Work(tasks=400, seconds=1.0, spread=0.0)


def test_equal_tasks_take_their_waves() -> None:
    found = predict(EQUAL, ONE)
    assert found.slots == 4
    assert found.tasks_seconds == pytest.approx(100 * (1.0 + TASK_SECONDS), rel=1e-3)
    assert found.seconds == pytest.approx(found.tasks_seconds + START_SECONDS)
    assert found.bottleneck == "cores"
    # One more task is one more wave.
    longer = predict(EQUAL.repeated(401), ONE)
    assert longer.tasks_seconds - found.tasks_seconds == pytest.approx(1.0, abs=0.01)
    assert 0.99 < found.efficiency < 1.0


def test_threads_and_memory_bound_the_tasks_of_a_node() -> None:
    assert predict(replace(EQUAL, threads=2), ONE).slots == 2
    tight = replace(EQUAL, mapped_bytes=6 * GIB, task_memory=4 * GIB)
    found = predict(tight, ONE)
    assert (found.slots, found.node_memory) == (2, 14 * GIB)
    with pytest.raises(ClusterError, match="the keys take"):
        predict(replace(tight, mapped_bytes=17 * GIB), ONE)
    with pytest.raises(ClusterError, match="use larger nodes"):
        predict(replace(EQUAL, threads=5), ONE)


def test_keys_go_round_by_round_and_are_expanded_once() -> None:
    work = replace(EQUAL, key_bytes=GIB, mapped_bytes=3 * GIB)
    alone, many = predict(work, ONE), predict(work, replace(ONE, nodes=16, network=1e9))
    assert alone.keys_seconds == pytest.approx(3 * GIB / EXPANSION)
    assert many.keys_seconds - alone.keys_seconds == pytest.approx(4 * GIB / 1e9)


def test_short_tasks_wait_for_the_driver_and_large_ones_for_the_link() -> None:
    wide = replace(ONE, nodes=64, cores=16)
    short = predict(Work(tasks=20_000, seconds=0.1), wide)
    assert short.bottleneck == "driver"
    assert short.tasks_seconds >= 20_000 * DRIVER_SECONDS
    large = Work(tasks=5000, seconds=1.0, item_bytes=100 << 20, result_bytes=1)
    through = predict(large, replace(wide, network=1e8))
    assert through.bottleneck == "network"
    assert through.tasks_seconds >= 5000 * (100 << 20) / 1e8 * 63 / 64
    assert predict(replace(large, shared_storage=True), wide).tasks_seconds < through.tasks_seconds / 10
    assert predict(replace(large, shared_storage=True), wide).driver_memory == 0
    # Each node has one link for all of its tasks.
    heavy = Work(tasks=1000, seconds=1.0, item_bytes=1250 << 20, result_bytes=1, shared_storage=True)
    both = predict(heavy, replace(ONE, nodes=2, cores=16, memory=64 * GIB, network=1.25e9))
    assert both.bottleneck == "network"
    assert both.tasks_seconds >= 1000 * (1250 << 20) / 1.25e9 / 2


def test_a_window_bounds_the_tasks_at_once() -> None:
    assert predict(EQUAL, ONE, window=2).tasks_seconds == pytest.approx(2 * predict(EQUAL, ONE).tasks_seconds, rel=0.01)


def test_items_and_results_take_memory_of_a_node() -> None:
    large = replace(EQUAL, item_bytes=3 * GIB, result_bytes=3 * GIB)
    assert predict(large, ONE).slots == 2
    with pytest.raises(ClusterError, match="use larger nodes"):
        predict(replace(large, item_bytes=16 * GIB), ONE)


def test_batches_of_long_tasks_scale_to_64_nodes() -> None:
    work = Work(100_000, 1.6, 0.1, 2, 12 << 20, 12 << 20, GIB, 3 * GIB, 2 * GIB, shared_storage=True)
    found = curve(work, Machines(1, 16, 64 * GIB))
    assert [each.slots for each in found] == [8 * nodes for nodes in (1, 2, 4, 8, 16, 32, 64)]
    assert all(one.seconds > two.seconds for one, two in itertools.pairwise(found))
    assert found[4].efficiency >= 0.9
    assert found[6].efficiency >= 0.8


def test_stragglers_cost_at_the_end() -> None:
    even = predict(replace(EQUAL, tasks=8), replace(ONE, cores=8))
    uneven = predict(replace(EQUAL, tasks=8, spread=0.5), replace(ONE, cores=8))
    assert uneven.tasks_seconds > even.tasks_seconds
    assert uneven.efficiency < even.efficiency
    assert predict(replace(EQUAL, spread=0.5), ONE) == predict(replace(EQUAL, spread=0.5), ONE)


@pytest.mark.parametrize(
    ("work", "machines", "needed"),
    [
        (replace(EQUAL, tasks=0), ONE, "0 tasks were given"),
        (replace(EQUAL, tasks=10**7), ONE, "give items in batches"),
        (replace(EQUAL, seconds=0.0), ONE, "more than 0 seconds"),
        (replace(EQUAL, spread=-0.1), ONE, "a spread of at least 0"),
        (EQUAL, replace(ONE, nodes=0), "at least 1 node"),
        (EQUAL, replace(ONE, network=0.0), "more than 0 bytes"),
    ],
)
def test_what_makes_no_sense_is_refused(work: Work, machines: Machines, needed: str) -> None:
    with pytest.raises(ClusterError, match=needed):
        predict(work, machines)
