"""Jacobi sweeps over a plate that is cut into strips, one for each device.

The strips exchange their edge rows after every sweep. A device has the methods `put`, `get`, and
those that are executed in order on one of its streams, number 0 or 1: `sweep`, `copy`, `record`,
`wait`. `gpu_strips.Gpu` is a device; `pretend.Device` is one made of NumPy.
"""

import itertools as _itertools

import numpy as _np


def by_numpy(plate, sweeps):
    """The plate after `sweeps` sweeps: every inner point becomes the mean of its neighbours."""
    u, v = plate.copy(), plate.copy()
    for _ in range(sweeps):
        v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u, v = v, u
    return u


def cut(plate, devices):
    """[device, u, v] of each strip, with one more row on each side: a neighbour or the edge."""
    rows = _np.linspace(1, len(plate) - 1, len(devices) + 1).astype(int)
    parts = [plate[a - 1 : b + 1] for a, b in _itertools.pairwise(rows)]
    return [
        [device, device.put(part), device.put(part)]
        for device, part in zip(devices, parts, strict=True)
    ]


def joined(plate, strips):
    """The whole plate on the host."""
    inner = [device.get(u)[1:-1] for device, u, _ in strips]
    return _np.concatenate([plate[:1], *inner, plate[-1:]])


def swap(strips):
    for strip in strips:
        strip[1:] = strip[:0:-1]


def halos(strips, k):
    """(own row to fill, the neighbour's row for it, number of the neighbour) of strip k."""
    _, _, v = strips[k]
    if k > 0:
        yield v[0], strips[k - 1][2][-2], k - 1
    if k + 1 < len(strips):
        yield v[-1], strips[k + 1][2][1], k + 1


def in_turn(strips, sweeps):
    """Sweep, then exchange, with all work of a device on its stream 0."""
    for _ in range(sweeps):
        done = []
        for device, u, v in strips:
            device.sweep(u, v, 0)
            done.append(device.record(0))
        for k, (device, _, _) in enumerate(strips):
            for own, theirs, neighbour in halos(strips, k):
                device.wait(done[neighbour], 0)
                device.copy(own, theirs, 0)
        swap(strips)


def overlapped(strips, sweeps):
    """The edge rows first; they are copied on stream 1 while stream 0 sweeps the inner rows."""
    arrived = [device.record(1) for device, _, _ in strips]
    for _ in range(sweeps):
        edges = []
        for (device, u, v), before in zip(strips, arrived, strict=True):
            device.wait(before, 0)
            device.sweep(u[:3], v[:3], 0)
            device.sweep(u[-3:], v[-3:], 0)
            edges.append(device.record(0))
            device.sweep(u[1:-1], v[1:-1], 0)
        for k, (device, _, _) in enumerate(strips):
            for own, theirs, neighbour in halos(strips, k):
                device.wait(edges[neighbour], 1)
                device.copy(own, theirs, 1)
            arrived[k] = device.record(1)
        swap(strips)
