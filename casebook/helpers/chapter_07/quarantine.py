"""A test allocator for CuPy: blocks are never reused; freed ones are poisoned and watched.

    watch = Quarantine()
    with cupy.cuda.using_allocator(watch.malloc):
        ...                             # the program under test
    print(watch.report())               # one line for each block that was written after its free

Poison is the byte 0xFF: NaN as a floating-point number, -1 as an integer. It is written on the
stream that was current at the allocation, on which CuPy's own pool would reuse the block. So a late
read finds NaN, and a late write changes the poison, if the poison comes first: a test delays the
other stream. No memory is freed before `report`, so a test needs memory for all its allocations.
"""

import ctypes as _ctypes
import pathlib as _pathlib
import traceback as _traceback

import cupy as _cupy

_CUPY = str(_pathlib.Path(_cupy.__file__).parent)


class Quarantine:
    """The freed blocks, and where they were allocated."""

    def __init__(self, allocate=_cupy.cuda.Memory):
        self._allocate, self.freed = allocate, []

    def malloc(self, size):
        """CuPy's allocator interface: a MemoryPointer to `size` bytes."""
        return _cupy.cuda.MemoryPointer(_Watched(self._allocate(max(size, 1)), size, self.freed), 0)

    def report(self):
        """Wait for the GPU; list the freed blocks that are not all poison, then forget all blocks.

        Text, one line for each, with the line of code that allocated it.
        """
        _cupy.cuda.runtime.deviceSynchronize()
        lines = []
        for memory, size, where in self.freed:
            spoilt = size - _bytes_of(memory, size).count(b"\xff")
            if spoilt:
                lines.append(
                    f"{spoilt} of {size} bytes written after the free; allocated in {where}"
                )
        self.freed.clear()
        return "\n".join(lines) or "nothing was written after its free"


class _Watched(_cupy.cuda.UnownedMemory):
    """A block that reports its end; the quarantine keeps the memory itself alive."""

    def __init__(self, memory, size, freed):
        super().__init__(memory.ptr, size, memory, memory.device_id)
        self._memory, self._freed, self._stream = memory, freed, _cupy.cuda.get_current_stream()
        caller = next(
            frame
            for frame in reversed(_traceback.extract_stack()[:-2])
            if not frame.filename.startswith(_CUPY)
        )
        self._where = f"line {caller.lineno}: {caller.line}"

    def __del__(self):
        _cupy.cuda.runtime.memsetAsync(self.ptr, 0xFF, self.size, self._stream.ptr)
        self._freed.append((self._memory, self.size, self._where))


def _bytes_of(memory, size):
    host = (_ctypes.c_char * size)()
    _cupy.cuda.runtime.memcpy(
        _ctypes.addressof(host), memory.ptr, size, _cupy.cuda.runtime.memcpyDeviceToHost
    )
    return host.raw
