// The DLPack capsule of a block of device memory, both forms of it: https://dmlc.github.io/dlpack/latest/c_api.html
#pragma once
#include "device.h"

#include <Python.h>
#include <memory>

namespace dlpack {

enum : int32_t { kDLCPU = 1, kDLCUDA = 2 };

struct Tensor {                             // DLTensor
    void *data;
    int32_t device_type, device_id;
    int32_t ndim;
    uint8_t code, bits;                     // 2: floating point; 32
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
};

struct Managed {                            // DLManagedTensor, before DLPack 1.0
    static constexpr const char *NAME = "dltensor";
    Tensor tensor;
    void *context;
    void (*deleter)(Managed *);
};

struct ManagedVersioned {                   // DLManagedTensorVersioned, from DLPack 1.0 on
    static constexpr const char *NAME = "dltensor_versioned";
    uint32_t major = 1, minor = 0;
    void *context;
    void (*deleter)(ManagedVersioned *);
    uint64_t flags = 0;                     // 1: read-only; 2: the data is a copy
    Tensor tensor;
};

/// A capsule's content, and the hold on the memory that keeps it alive for the consumer.
template <typename M> struct Content : M {
    std::shared_ptr<device::Memory> memory;
    int64_t shape[1], strides[1];
};

/// A new capsule (a new reference), or nullptr with a Python error set.
template <typename M> PyObject *capsule(std::shared_ptr<device::Memory> memory) {
    auto content = std::make_unique<Content<M>>();
    content->shape[0] = int64_t(memory->size);
    content->strides[0] = 1;
    content->tensor = {memory->data, kDLCUDA, memory->id, 1, 2, 32, 1, content->shape, content->strides, 0};
    content->memory = std::move(memory);
    content->context = nullptr;
    content->deleter = [](M *managed) { delete static_cast<Content<M> *>(managed); };   // any thread, with or without the GIL
    // A consumer renames the capsule and calls the deleter itself. One that nobody consumed frees its content.
    PyObject *made = PyCapsule_New(static_cast<M *>(content.get()), M::NAME, [](PyObject *self) {
        if (PyCapsule_IsValid(self, M::NAME)) {
            auto *managed = static_cast<M *>(PyCapsule_GetPointer(self, M::NAME));
            managed->deleter(managed);
        }
    });
    if (made) content.release();
    return made;
}

}  // namespace dlpack
