"""Simulated devices made of NumPy, without GPU or CUDA, for the module `halo`.

devices = pretend.devices(2, seed=7)
...                                 # put, sweep, copy, record, wait: nothing happens yet
pretend.finish(devices)             # executes all, in a random order that a GPU might choose

Any order may come that streams and events allow.
"""

import random as _random


class Device:
    def __init__(self):
        self.streams = [], []

    def put(self, array):
        return array.copy()

    def get(self, array):
        return array.copy()

    def sweep(self, u, v, stream):
        def work():
            v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])

        self.streams[stream].append(work)

    def copy(self, to, source, stream):
        def work():
            to[...] = source

        self.streams[stream].append(work)

    def record(self, stream):
        event = {"reached": False}
        self.streams[stream].append(lambda: event.update(reached=True))
        return event

    def wait(self, event, stream):
        self.streams[stream].append(event)


def devices(number, seed, kind=Device):
    made = [kind() for _ in range(number)]
    made[0].dice = _random.Random(seed)
    return made


def finish(devices):
    """Execute all calls so far. Raises RuntimeError for a deadlock: every stream waits."""
    queues = [queue for device in devices for queue in device.streams]
    while any(queues):
        ready = [queue for queue in queues if queue and (callable(queue[0]) or queue[0]["reached"])]
        if not ready:
            raise RuntimeError("every stream waits")
        queue = devices[0].dice.choice(ready)
        for _ in range(devices[0].dice.choice((1, 1, 5, 50))):  # sometimes a stream runs ahead
            if queue and (callable(queue[0]) or queue[0]["reached"]):
                step = queue.pop(0)
                if callable(step):
                    step()
