"""Fused functions of CuPy against the same functions of NumPy, without a GPU.

CuPy traces a function and writes CUDA code of one operation after the other, each with the types of
its operands and of its result. NumPy's operations with these types say here what the code computes.
"""

import contextlib
import re

import cupy
import no_device
import numpy
from cupy._core import fusion

TYPES = {
    "bool": "?", "signed char": "b", "short": "h", "int": "i", "long": "l", "long long": "l",
    "unsigned char": "B", "unsigned short": "H", "unsigned int": "I", "unsigned long": "L",
    "unsigned long long": "L", "float16": "e", "float": "f", "double": "d",
    "complex<float>": "F", "complex<double>": "D",
}  # fmt: skip
OPERATIONS = {"copy": numpy.positive, "where": numpy.where, "clip": numpy.clip}
DECLARED = re.compile(r"(const )?([a-z][\w<> ]*?) (v\d+(?:_\d+)?)(?: = (.*?))?;")
CALL = re.compile(r"cupy_(\w+)\((.*)\);")
MOVED = re.compile(r"(v\d+(?:_\d+)?) = (?:static_cast< (.*?) >\()?(v\d+(?:_\d+)?)\)?;")


class Memo(dict):
    """A fused function's kernels. `last` is the one that a call has taken."""

    def __getitem__(self, key):
        self.last = super().__getitem__(key)
        return self.last


class NotUnderstood(Exception):
    """Code of another form, as that of a reduction."""


def fuse(function):
    fused = cupy.fuse(kernel_name="hunted")(function)
    fused._memo = Memo()

    def call(*values):
        traced = [cupy.ndarray(v.shape, v.dtype) if isinstance(v, numpy.ndarray) else v
                  for v in values]  # fmt: skip
        no_device.stopped(fused, *traced)
        if fused.new_fusion:
            raise NotUnderstood("second path")
        kernel, _ = fused._memo.last
        return computed(kernel, [v for v in values if v is not None])

    return call


def computed(kernel, values):
    """What the code of a kernel computes from these arrays and numbers."""
    known = {}
    for parameter, value in zip(kernel.in_params, values, strict=True):
        known[parameter.name] = numpy.asarray(value).astype(parameter.dtype)
    declared = {p.name: p.dtype for p in (*kernel.in_params, *kernel.out_params)}
    for line in re.split(r"\n|(?<=;) (?=\w)", kernel.operation.replace("thrust::", "")):
        if match := DECLARED.fullmatch(line):
            _, kind, name, literal = match.groups()
            declared[name] = numpy.dtype(TYPES[kind])
            if literal:
                known[name] = constant(literal, declared[name])
        elif match := MOVED.fullmatch(line):
            target, _, source = match.groups()
            known[target] = known.get(source, numpy.array(0)).astype(declared[target])
        elif match := CALL.fullmatch(line):
            names = match[2].split(", ")
            operation = OPERATIONS.get(match[1]) or getattr(numpy, match[1])
            outs = names[len(names) - getattr(operation, "nout", 1) :]
            results = operation(*(known[name] for name in names[: -len(outs)]))
            for name, result in zip(outs, results if len(outs) > 1 else [results], strict=True):
                known[name] = numpy.asarray(result).astype(declared[name])
        elif line and not line.startswith("//"):
            raise NotUnderstood(line)
    found = tuple(known[parameter.name] for parameter in kernel.out_params)
    return found if kernel.return_tuple else found[0]


def constant(literal, dtype):
    """A number as CUDA code writes it: 100u, -1ll, 0.5f, true, complex<float>(0.0, 2.0)."""
    text = re.sub(r"complex<\w+>", "complex", re.sub(r"(?<=\d)(u?ll|u|f)\b", "", literal))
    names = {"true": True, "false": False, "CUDART_INF": numpy.inf, "CUDART_NAN": numpy.nan}
    return numpy.asarray(eval(text.replace("_F", ""), names)).astype(dtype)


RIGHT = {"xp": numpy, "np": numpy, "fuse": lambda function: function}
ASKED = {"xp": cupy, "np": numpy, "fuse": fuse}
UNABLE = ("NotUnderstood",)
LOOSE = {"e": 5e-3, "f": 1e-5, "F": 1e-5, "d": 1e-12, "D": 1e-12}
KIND = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 2}
choose = fusion._FusionHistory.call_ufunc


def seen(value, names):
    return numpy.asarray(value)


def difference(right, got):
    if right.dtype != got.dtype:
        return "dtype"
    if right.shape != got.shape:
        return "shape"
    loose = LOOSE.get(right.dtype.char, 0)
    same = numpy.allclose(right, got, rtol=loose, atol=loose, equal_nan=True)
    return "" if same else "numbers"


def with_case_25_repaired(self, ufunc, *args, **kwargs):
    """In the place of a method of CuPy 14.0 to 14.2: the repair that case 25 shows."""
    args = [self._get_fusion_var(arg) for arg in args]
    weak = [getattr(arg, "is_weak", 0) in (bool, int, float, complex) for arg in args]
    strong = [
        KIND[arg.dtype.kind] for arg, w in zip(args, weak[: ufunc.nin], strict=False) if not w
    ]
    for i, arg in enumerate(args):
        if weak[i] and KIND[arg.dtype.kind] > max(strong, default=-1):
            args[i] = fusion._FusionVarScalar(arg._var, -1, arg._is_postmap, False)
    out = choose(self, ufunc, *args, **kwargs)
    for one in out if isinstance(out, tuple) else [out]:
        if not strong and one.ndim == -1:
            one.is_weak = type(one.dtype.type().item())
    return out


@contextlib.contextmanager
def case_25():
    fusion._FusionHistory.call_ufunc = with_case_25_repaired
    yield
    fusion._FusionHistory.call_ufunc = choose


REPAIRED = {"case 25": case_25} if cupy.__version__ >= "14" else {}
