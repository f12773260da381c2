"""The function from the top of case 61: `checked(result)` raises what cuda.bindings returned."""

from cuda.bindings import driver, nvrtc, runtime

SAYS = {
    driver.CUresult: driver.cuGetErrorString,
    runtime.cudaError_t: runtime.cudaGetErrorString,
    nvrtc.nvrtcResult: nvrtc.nvrtcGetErrorString,
}


def checked(result):
    error, *values = result
    if error != 0:
        text = SAYS[type(error)](error)[1] or b"unknown error"
        raise RuntimeError(f"{error.name}: {text.decode()}")
    return values[0] if len(values) == 1 else tuple(values) or None
