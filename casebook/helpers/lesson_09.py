"""The checks of lesson 9, bytes and layouts."""

# mypy: allow-untyped-defs

import numpy as np
from lesson import Exercise, NotYet, numbers, writes_once
from numpy.lib.stride_tricks import as_strided


class Image(tuple):
    """Rows and columns of an image, and a way to store it: where it starts, and its strides."""

    def __new__(cls, rows, columns, name, store):
        image = super().__new__(cls, (rows, columns))
        image.name, image.store = name, store
        return image


def cut(rows, columns):
    """The middle of a larger image."""
    return pixels(rows + 2, columns + 3, 3)[1:-1, 2:-1]


def pixels(*shape):
    """Numbers from 0 to 85, so that the sum of three fits a byte."""
    return np.random.default_rng(np.prod(shape)).integers(0, 86, shape, dtype=np.uint8)


IMAGES = [
    Image(2, 3, "row by row", lambda rows, columns: pixels(rows, columns, 3)),
    Image(4, 3, "cut out of a larger one", cut),
    Image(9, 5, "in Fortran order", lambda *size: np.asfortranarray(pixels(*size, 3))),
    Image(5, 9, "one colour after the other", lambda *size: pixels(3, *size).transpose(1, 2, 0)),
    Image(3, 4, "upside down", lambda *size: pixels(*size, 3)[::-1]),
    Image(0, 3, "row by row", lambda *size: pixels(*size, 3)),
]


class Images(Exercise):
    """An exercise whose reply says how the image was stored."""

    def simulate(self, call, size, step, schedule):
        try:
            super().simulate(call, size, step, schedule)
        except NotYet as wrong:
            _, start, _, strides = self.inputs(size)
            stored = f"stored {size.name}, with start {start} and strides {strides.tolist()}"
            raise NotYet(f"{wrong}. The image is {stored}") from None


def stored(size):
    """An image as its memory, the place of its first element, its shape and its strides."""
    image = size.store(*size)
    memory = image
    while memory.base is not None:
        memory = memory.base
    start = image.ctypes.data - memory.ctypes.data if image.size else 0
    return [memory.ravel("K"), start, np.array(image.shape), np.array(image.strides)]


def gap(columns):
    return columns + columns % 3 + 1


def image_and_corner(size):
    """An image with a gap behind each row, its shape, the pitch of its rows, and a corner."""
    rows, columns = size
    memory = np.full((rows, gap(columns)), 99, np.float32)
    memory[:, :columns] = numbers(size, np.float32)
    top, left = (-1, 2) if rows % 2 else (1, -1)
    return [memory.ravel(), np.array(size), gap(columns), top, left]


def window_of(memory, shape, pitch, top, left):
    image = memory.reshape(shape[0], pitch)[:, : shape[1]]
    around = np.pad(image, 20)
    high, wide = shape[0] // 2 + 2, shape[1] // 2 + 3
    return around[20 + top : 20 + top + high, 20 + left : 20 + left + wide].copy()


def in_blocks(kernel, *arguments):
    blocks = tuple(length // 8 + 1 for length in arguments[-1].shape)
    kernel[blocks, (8, 8)](*arguments)


check_grey = Images(
    inputs=stored,
    expected=lambda memory, start, shape, strides: (
        as_strided(memory[start:], shape, strides).sum(-1) // 3
    ).astype(np.uint8),
    sizes=IMAGES,
    launch=in_blocks,
    rules=[writes_once],
)
check_window = Exercise(
    inputs=image_and_corner,
    expected=window_of,
    sizes=[(2, 3), (5, 4), (8, 6), (3, 12), (1, 1), (0, 3)],
    launch=in_blocks,
    rules=[writes_once],
)
