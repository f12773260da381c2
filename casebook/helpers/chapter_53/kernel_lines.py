"""Lines of Python, some of which a CUDA kernel cannot hold, and what compiles them.

    from kernel_lines import LINES, outcome

LINES gives each line a name; the functions are those of compiled_line. Needs no GPU.
"""

from compiled_line import kernel, outcome, ptx

__all__ = ["LINES", "kernel", "outcome", "ptx"]

LINES = {
    "t = [x[0], 2.0]; out[0] = t[0]": "list",
    "t = []; t.append(x[0])": "append",
    "t = np.zeros(4); out[0] = t[0]": "np.zeros",
    "t = np.empty(4); out[0] = t[0]": "np.empty",
    "t = x[1:3].copy(); out[0] = t[0]": "copy",
    "t = x + out; out[0] = t[0]": "array + array",
    "s = 'a'; t = s + 'b'": "string + string",
    "out[:2] = x[2:4]": "array to slice",
    "out[:2] = (x[0], 2.0)": "tuple to slice",
    "out[:2] = 0.0": "number to slice",
    "t = x[1:3]; out[0] = t[0]": "view",
    "t = (x[0], 2.0); out[0] = t[0]": "tuple",
    "t = cuda.local.array(4, np.float64); out[0] = t[0]": "local array, size 4",
    "t = cuda.local.array(x.size, np.float64); out[0] = t[0]": "local array, x.size",
}
