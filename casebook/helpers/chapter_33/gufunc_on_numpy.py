"""Numba's gufuncs for the GPU with NumPy in the place of GPU, memory and compiler.

twice = on_numpy("(n)->(n)", ("int32", "int32"), ("float64", "float64"))(function)
twice(x)                            # chooses, casts, allocates and copies as on a GPU
twice(x, out=to_device(y))          # what lies on the pretended GPU has the type OnGPU

Every decision is the library's own. New memory of this GPU is full of 77.
"""

import numpy as _np

try:
    from numba.cuda import deviceufunc as _library
except ImportError:
    from numba_cuda_mlir.numba_cuda import deviceufunc as _library


class OnGPU(_np.ndarray):
    """An array that lies on the pretended GPU."""


def to_device(array):
    return array.copy().view(OnGPU)


def to_host(array):
    return _np.array(array)


class _Steps(_library.GUFuncCallSteps):
    def is_device_array(self, array):
        return isinstance(array, OnGPU)

    def as_device_array(self, array):
        return array

    def to_device(self, array):
        return to_device(array)

    def to_host(self, array, host):
        if host is None:
            return to_host(array)
        host[...] = array
        return host

    def allocate_device_array(self, shape, dtype):
        return _np.full(shape, 77, dtype).view(OnGPU)

    def launch_kernel(self, kernel, count, arrays):
        for i in range(count):
            kernel(*(array[i] for array in arrays))


class _OnNumPy(_library.GeneralizedUFunc):
    _call_steps = _Steps


def on_numpy(layout, *signatures):
    engine = _library.GUFuncEngine.from_signature(layout)

    def decorate(function):
        kernels = {}
        for signature in signatures:
            types = [_np.dtype(name) for name in signature]
            kernels[tuple(types[: engine.nin])] = tuple(types[engine.nin :]), function
        return _OnNumPy(kernels, engine)

    return decorate
