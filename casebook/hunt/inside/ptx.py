"""Runs PTX on the CPU, one thread after another: what compilers write for one-line kernels.

Raises NotUnderstood for what it does not know. No memory is shared between threads, and no thread
waits. A GPU may fuse mul and add without `.rn` into one operation; here each rounds, so that the
last digits of floats can differ from a GPU's.
"""

import math
import operator
import re
from fractions import Fraction

import numpy as np

BASE = 1 << 32  # address of the memory
FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
TYPE = re.compile(r"(?:pred|[subf]\d+)$")
COMPARE = {"eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge",
           "lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}  # fmt: skip
BITS = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}
ROUND = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}
ONE = {
    "sqrt": np.sqrt,
    "rcp": lambda a: type(a)(1) / a,
    "rsqrt": lambda a: type(a)(1) / np.sqrt(a),
    "ex2": np.exp2,
    "lg2": np.log2,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
}


class NotUnderstood(Exception):
    """An instruction that is not known here."""


def width(kind):
    return 1 if kind == "pred" else int(kind[1:])


def value(bits, kind):
    """The number that bits stand for."""
    size = width(kind)
    bits &= (1 << size) - 1
    if kind in FLOATS:
        return np.frombuffer(bits.to_bytes(size // 8, "little"), FLOATS[kind])[0]
    return bits - (1 << size) if kind[0] == "s" and bits >> (size - 1) else bits


def bits_of(number, kind):
    if kind in FLOATS:
        return int.from_bytes(FLOATS[kind](number).tobytes(), "little")
    return int(number) & ((1 << width(kind)) - 1)


def fused(a, b, c):
    if not all(map(np.isfinite, (a, b, c))) or not (exact := exactly(a, b, c)):
        return a * b + c
    try:
        return type(a)(exact.numerator / exact.denominator)
    except OverflowError:
        return type(a)(math.copysign(math.inf, exact))


def exactly(a, b, c):
    return Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))


def integral(number, how):
    if not np.isfinite(number):
        return number
    return type(number)(math.copysign(ROUND[how](float(number)), number))


def quotient(a, b):
    """As C divides: rounded to zero. By zero, all bits are set."""
    return -1 if not b else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def converted(number, kind, source, how):
    rounding = next((one for one in how if one in ROUND), None)
    if source in FLOATS and kind not in FLOATS:
        size, signed = width(kind), kind[0] == "s"
        low, high = (-(1 << size - 1), (1 << size - 1) - 1) if signed else (0, (1 << size) - 1)
        if number != number:
            return low if size == 64 else 0
        whole = integral(float(number), rounding)
        return int(min(max(whole, low), high))
    if "sat" in how:
        return min(max(number, 0), 1) if kind in FLOATS else number
    return integral(number, rounding) if rounding else number


def compared(how, a, b):
    nan = a != a or b != b
    if how in ("num", "nan"):
        return nan == (how == "nan")
    if how not in COMPARE:  # equ, neu, ltu …: true of NaN
        return nan or getattr(operator, how[:-1])(a, b)
    return not nan and getattr(operator, COMPARE[how])(a, b)


class Kernel:
    """The first entry of a PTX text, and the memory that it may use."""

    def __init__(self, text, memory):
        text = re.sub(r"//[^\n]*", "", text)
        self.memory = memory
        head, _, body = text.partition(".entry")
        self.parameters = re.findall(r"\.param [^,)]*?(\w+)(?:\[\d+\])?\s*[,)]", body.split("{")[0])
        self.symbols = {}
        for kind, name, numbers in re.findall(
            r"\.(?:global|const) (?:\.align \d+ )?\.(\w+) (\w+)\[\d+\] = \{([^}]*)\}", head
        ):
            self.place(name, b"".join(
                int(number, 0).to_bytes(width(kind) // 8, "little") for number in numbers.split(",")
            ))  # fmt: skip
        for name, size in re.findall(r"\.local [^;]*?(\w+)\[(\d+)\]", body):
            self.place(name, bytes(int(size)))
        body = body[body.index("{") + 1 : body.index("\n}")]
        self.labels, self.code = {}, []
        body = re.sub(r"\{([^{};]*)\}", r"|\1|", body)  # {low, high}; other braces are blocks
        for line in re.split(r"[;\n{}]|(?<=:)\s", body):
            self.read(" ".join(line.split()))

    def place(self, name, content):
        self.symbols[name] = BASE + len(self.memory)
        self.memory += content + bytes(-len(content) % 16)

    def read(self, line):
        if not line or line[0] == ".":
            return
        if line.endswith(":"):
            self.labels[line[:-1]] = len(self.code)
            return
        guard, line = line.split(None, 1) if line[0] == "@" else ("", line)
        name, _, rest = line.partition(" ")
        op, *how = name.split(".")
        kinds = [one for one in how if TYPE.match(one)]
        arguments = [one.strip() for one in rest.split(",")] if rest else []
        self.code.append((guard.strip("@"), op, how, kinds, arguments))

    def run(self, parameters, special):
        """One thread; `special` has the values of %tid.x and so on."""
        registers = dict(special)
        given = dict(zip(self.parameters, parameters, strict=True))
        place = steps = 0
        while place < len(self.code):
            guard, op, how, kinds, arguments = self.code[place]
            place, steps = place + 1, steps + 1
            if steps > 100_000:
                raise NotUnderstood("does not end")
            if guard and registers[guard.strip("!")] == (guard[0] == "!"):
                continue
            if op in ("ret", "exit"):
                return
            if op == "bra":
                place = self.labels[arguments[0]]
            else:
                self.step(op, how, kinds, arguments, registers, given)

    def address(self, argument, registers):
        base, _, offset = argument.strip("[]").partition("+")
        start = self.symbols.get(base, registers.get(base))
        if start is None:
            raise NotUnderstood(base)
        return start + int(offset or 0) - BASE

    def step(self, op, how, kinds, arguments, registers, given):
        kind = kinds[-1] if kinds else ""

        def get(argument, kind=kind):
            if argument[0] == "%":
                return value(registers[argument], kind)
            if argument in self.symbols:
                return self.symbols[argument]
            if argument[:2] in ("0f", "0d"):
                return value(int(argument[2:], 16), "f32" if argument[1] == "f" else "f64")
            try:
                return value(int(argument, 0), kind)
            except ValueError as error:
                raise NotUnderstood(argument) from error

        if op == "ld" and how[0] == "param":
            registers[arguments[0]] = bits_of(given[arguments[1].strip("[]")], kind)
            return
        if op in ("ld", "st"):
            self.move(op, how, kind, arguments, registers, get)
            return
        if "|" in "".join(arguments):  # mov.b64 {low, high}, both
            parts = [one for one in arguments if "|" in one or "%" in one]
            names = [one.strip("| ") for one in parts]
            half = width(kind) // 2
            if parts[0][0] == "|":
                whole = registers[names[2]]
                registers[names[0]], registers[names[1]] = whole % (1 << half), whole >> half
            else:
                registers[names[0]] = get(names[1], f"b{half}") | get(names[2], f"b{half}") << half
            return
        target, *arguments = arguments
        result = self.result(op, how, kinds, kind, arguments, registers, get)
        if op in ("setp", "clz", "popc"):
            kind = "pred" if op == "setp" else "u32"
        elif op == "cvt":
            kind = kinds[0]
        elif "wide" in how:
            kind = f"{kind[0]}{2 * width(kind)}"
        registers[target] = bits_of(result, kind)

    def move(self, op, how, kind, arguments, registers, get):
        place = arguments[0] if op == "st" else arguments[-1]
        start, size = self.address(place, registers), width(kind) // 8
        names = [one.strip("| ") for one in (arguments[1:] if op == "st" else arguments[:-1])]
        for number, name in enumerate(names):
            at = start + number * size
            if not 0 <= at <= len(self.memory) - size:
                raise IndexError("illegal address")
            if op == "st":
                self.memory[at : at + size] = bits_of(get(name), kind).to_bytes(size, "little")
            else:
                registers[name] = bits_of(
                    value(int.from_bytes(self.memory[at : at + size], "little"), kind),
                    f"s{64}" if kind[0] == "s" else kind,
                )

    def result(self, op, how, kinds, kind, arguments, registers, get):
        if op == "setp":
            answer = compared(how[0], *map(get, arguments[:2]))
            if how[1] in BITS:
                answer = BITS[how[1]](answer, get(arguments[2], "pred"))
            return answer
        if op == "selp":
            return get(arguments[0] if registers[arguments[2]] else arguments[1])
        if op == "cvt":
            return converted(get(arguments[0]), *kinds, how)
        if op in ("shl", "shr"):
            left, count = get(arguments[0]), get(arguments[1], "u32")
            count = min(count, width(kind))
            return left << count if op == "shl" else left >> count
        if op in ("mov", "cvta"):
            return get(arguments[0])
        if {"rz", "rm", "rp"} & set(how):
            raise NotUnderstood(f"{op}.{'.'.join(how)}")
        given = list(map(get, arguments))
        if "hi" in how:
            return given[0] * given[1] >> width(kind)
        if op in BITS:
            return BITS[op](*given)
        if op in ("min", "max"):
            if kind in FLOATS:
                return (np.fmin if op == "min" else np.fmax)(*given)
            return (min if op == "min" else max)(given)
        if op == "div":
            return np.divide(*given) if kind in FLOATS else quotient(*given)
        if op == "rem":
            return given[0] - quotient(*given) * given[1] if given[1] else given[0]
        if op == "copysign":
            return np.copysign(given[1], given[0])
        if op in ("fma", "mad"):
            return fused(*given) if kind in FLOATS else given[0] * given[1] + given[2]
        if op in ONE and kind in FLOATS:
            return ONE[op](given[0])
        simple = {"add": operator.add, "sub": operator.sub, "mul": operator.mul,
                  "neg": operator.neg, "abs": abs, "not": operator.invert,
                  "brev": lambda a: int(f"{a:0{width(kind)}b}"[::-1], 2),
                  "popc": lambda a: bin(a).count("1"),
                  "clz": lambda a: width(kind) - a.bit_length()}  # fmt: skip
        if op in simple:
            return simple[op](*given)
        raise NotUnderstood(f"{op}.{'.'.join(how)}")
