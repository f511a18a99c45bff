from __future__ import annotations

import asyncio

from blueprint_nb_widgets.debounce import Debounce


def test_without_a_loop_it_runs_at_once():
    runs = []
    debounced = Debounce(lambda: runs.append(1))
    debounced()
    debounced()
    assert len(runs) == 2


def test_calls_that_follow_quickly_become_one():
    runs = []

    async def gesture():
        debounced = Debounce(lambda: runs.append(1), wait_seconds=0.05)
        for _ in range(20):
            debounced()
            await asyncio.sleep(0.005)
        assert runs == []
        await asyncio.sleep(0.15)

    asyncio.run(gesture())
    assert len(runs) == 1


def test_two_gestures_run_twice():
    runs = []

    async def gestures():
        debounced = Debounce(lambda: runs.append(1), wait_seconds=0.01)
        for _ in range(2):
            debounced()
            await asyncio.sleep(0.05)

    asyncio.run(gestures())
    assert len(runs) == 2


def test_a_cancelled_run_never_comes():
    runs = []

    async def gesture():
        debounced = Debounce(lambda: runs.append(1), wait_seconds=0.01)
        debounced()
        debounced.cancel()
        await asyncio.sleep(0.05)

    asyncio.run(gesture())
    assert runs == []
