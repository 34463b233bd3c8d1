"""The model of a cluster agrees with formulas, if they exist."""

import numpy as np
import pytest
from attrs import evolve

from benchmarks.clusters.network import (
    Cluster,
    Even,
    Exchange,
    Failures,
    Link,
    Lognormal,
    ShiftedExponential,
    Tree,
    fan_ins,
    round_seconds,
)
from benchmarks.clusters.network.plan import DATACENTRE, Costs, Data, driver_seconds, exchanges_of, fits

LINK = Link(latency=0.5, bandwidth=100.0)
TREE, EVEN, WORK = Tree(LINK, fan_in=4), Even(), Exchange(down=0.0, up=0.0, work=2.0)
SIZES = (1, 2, 3, 7, 16, 17, 64, 100, 1024)


def seconds(workers=8, tree=TREE, spread=EVEN, failures=None, call=WORK, trials=4):
    rng = np.random.default_rng(1)
    return round_seconds(Cluster(workers, tree, spread, failures), [call], 0.0, trials, rng)


@pytest.mark.parametrize(
    ("workers", "most", "expected"),
    [(1, 2, (1,)), (5, 8, (5,)), (8, 8, (8,)), (9, 8, (8, 2)), (1024, 32, (32, 32)), (1000, 10, (10, 10, 10))],
)
def test_levels_of_a_tree(workers, most, expected):
    assert fan_ins(workers, most) == expected


@pytest.mark.parametrize("workers", SIZES)
@pytest.mark.parametrize("most", [2, 3, 32])
def test_a_tree_reaches_all_workers_and_no_level_could_be_left_out(workers, most):
    levels = fan_ins(workers, most)
    assert np.prod(levels) >= workers
    assert most ** (len(levels) - 1) < max(2, workers)


def test_without_stragglers_a_round_is_a_sum():
    """Down and up through two levels of a tree for nine workers, and the work between."""
    result = seconds(workers=9, tree=Tree(LINK, fan_in=3), call=Exchange(down=40.0, up=80.0, work=2.0))
    assert result.down == pytest.approx([2 * (0.5 + 1.2)] * 4)
    assert result.work == pytest.approx([2.0] * 4)
    assert result.up == pytest.approx([2 * (0.5 + 2.4)] * 4)
    assert result.total == pytest.approx(result.down + result.work + result.up)


@pytest.mark.parametrize("workers", SIZES)
def test_sums_of_workers_that_are_done_at_once_take_the_time_of_the_tree(workers):
    tree = Tree(LINK, fan_in=8)
    np.testing.assert_allclose(tree.finished(np.full((2, workers), 3.0), 20.0), 3.0 + tree.seconds(workers, 20.0))


@pytest.mark.parametrize("workers", [4, 64])
def test_the_slowest_of_many_is_what_harmonic_numbers_say(workers):
    result = seconds(workers=workers, spread=ShiftedExponential(0.2), trials=20_000)
    harmonic = np.sum(1.0 / np.arange(1, workers + 1))
    assert result.work.mean() == pytest.approx(2.0 * (1.0 + 0.2 * harmonic), rel=0.01)


def test_a_tree_waits_for_the_last_of_those_it_hears_from_and_no_longer():
    """One machine of two waits for the late worker of four; the second machine has its sum before."""
    tree = Tree(Link(1.0, 1e9), fan_in=2)
    assert tree.finished(np.array([[0.0, 0.0, 0.0, 5.0]]), 0.0) == pytest.approx([7.0])
    assert tree.finished(np.array([[0.0, 0.0, 0.0, 0.0]]), 0.0) == pytest.approx([2.0])


@pytest.mark.parametrize("spread", [Even(), ShiftedExponential(0.1), Lognormal(0.3)])
@pytest.mark.parametrize("fan_in", [None, 2, 32])
def test_more_workers_take_no_less_time_for_the_same_work_each(spread, fan_in):
    call = Exchange(40.0, 80.0, 2.0)
    means = [
        seconds(workers, Tree(LINK, fan_in), spread, call=call, trials=3000).total.mean()
        for workers in (1, 4, 16, 64, 256)
    ]
    assert (np.diff(means) > 0.0).all()


def test_parts_of_the_numbers_on_as_many_servers_as_messages_leave_only_what_a_worker_sends():
    whole, parts = Tree(LINK), Tree(LINK, servers=64)
    assert whole.seconds(64, 10.0) == pytest.approx(0.5 + 6.4)
    assert parts.seconds(64, 10.0) == pytest.approx(0.5 + 0.1)


def test_deaths_are_as_frequent_as_stated_and_cost_what_is_made_again():
    """Even work: nobody dies with probability exp(−K t / mean); else the last death decides."""
    failures = Failures(mean=100.0, notice=10.0, reload=5.0)
    call = Exchange(0.0, 0.0, 2.0, redo=1.0)
    work = seconds(workers=8, failures=failures, call=call, trials=40_000).work
    assert np.mean(work == 2.0) == pytest.approx(np.exp(-8 * 2.0 / 100.0), abs=0.01)
    assert work[work > 2.0].min() >= 10.0 + 5.0 + 3.0
    once = work[(work > 2.0) & (work <= 2.0 + 18.0)]
    assert np.mean(once - 18.0) == pytest.approx(1.0, abs=0.1)


COSTS = Costs(score=2e-9, combine=3e-9, argmax=1e-5, dot=1e-9, qp=1e-3)
DATA = Data(queries=1e6, documents=100, values=136, weights=136)


def test_a_round_scores_once_looks_at_every_step_and_makes_a_cut():
    exchanges = exchanges_of(DATA, DATACENTRE, COSTS, (7, 6))
    of_each = 1e6 / DATACENTRE.workers / DATACENTRE.cores
    assert len(exchanges) == 3
    assert sum(one.work for one in exchanges) == pytest.approx(of_each * (100 * 136 * 5e-9 + 14 * 1e-5))
    assert sum(one.down for one in exchanges) == 8 * (136 + 7 + 6 + 1)
    assert exchanges[-1].up == 8 * (136 + 3)


def test_a_plan_of_machines_that_are_alike_and_never_die_is_a_sum():
    machines = evolve(DATACENTRE, workers=64, spread=EVEN, life=None)
    [times] = fits(DATA, machines, COSTS, rounds=3, steps=(7, 6), trials=1, rng=np.random.default_rng(0))
    exchanges = exchanges_of(DATA, machines, COSTS, (7, 6))
    network = sum(machines.tree.seconds(64, one.down) + machines.tree.seconds(64, one.up) for one in exchanges)
    work = sum(one.work for one in exchanges)
    np.testing.assert_allclose(times.total, network + work + driver_seconds(DATA, machines, COSTS, 1.5))


def test_twice_the_queries_take_twice_the_work_and_the_same_network():
    few, many = (
        fits(
            evolve(DATA, queries=queries),
            evolve(DATACENTRE, spread=EVEN, life=None),
            COSTS,
            rounds=1,
            steps=(7, 6),
            trials=1,
            rng=np.random.default_rng(0),
        )[0]
        for queries in (1e6, 2e6)
    )
    np.testing.assert_allclose(many.work, 2.0 * few.work)
    np.testing.assert_allclose(many.up + many.down, few.up + few.down)
