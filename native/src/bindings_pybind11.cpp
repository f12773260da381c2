// One function of bindings.cpp through pybind11, for the comparison of call overheads.
#include "device.h"

#include <pybind11/pybind11.h>

PYBIND11_MODULE(_pybind11, m) {
    m.def("add_addresses", [](uintptr_t a, uintptr_t b, uintptr_t out, size_t size, device::Stream stream) {
        device::add((const float *) a, (const float *) b, (float *) out, size, 0, stream);
    });
}
