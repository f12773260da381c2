"""The exporter of case 11: both descriptions of one array lead to the same elements."""

import sys
import weakref

import numpy as np
import pytest

from casebook.execution.modules import FOLDERS

sys.path += map(str, FOLDERS)
from dlpack_tail import Tail, data_and_offset


@pytest.mark.parametrize("offset, expected", [(True, (0, 64)), (False, (64, 0))])
def test_both_descriptions_name_the_same_elements(offset, expected):
    base = np.arange(12.0)
    address, memory = base.ctypes.data, weakref.ref(base)
    assert data_and_offset(base[8:]) == (address + 64, 0)
    tail = Tail(base, 8, address, offset=offset)
    del base
    assert memory() is not None
    data, byte_offset = data_and_offset(tail)
    assert (data - address, byte_offset) == expected
    assert np.from_dlpack(tail).tolist() == [8, 9, 10, 11]
    assert tail.__dlpack_device__() == (1, 0)
    del tail
    assert memory() is None
