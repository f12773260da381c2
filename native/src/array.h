// The robust way out: a class that speaks DLPack and the CUDA Array Interface itself.
#pragma once
#include "arrays.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>

/// A vector on a device. Its views share the memory, which is freed with the last of them.
class Array {
public:
    /// `stream` has been given the work that fills the memory.
    Array(std::unique_ptr<Memory> memory, Stream stream)
        : memory_(memory.get()), ready_(std::make_unique<device::Event>(memory->id, stream)), owner_(owner_of(std::move(memory))) {}

    using Pair = std::pair<int, int>;

    /// https://data-apis.org/array-api/latest/API_specification/generated/array_api.array.__dlpack__.html
    /// The capsule is one of before DLPack 1.0, which every consumer has to accept whatever its max_version.
    nb::object dlpack(std::optional<int64_t> stream, nb::handle /* max_version */, std::optional<Pair> dl_device, std::optional<bool> copy) const {
        if (copy.value_or(false)) throw nb::buffer_error("__dlpack__: copy=True is not offered; this array is never copied");
        if (dl_device.value_or(device()) != device()) throw nb::buffer_error("__dlpack__: the array cannot move to another device");
        // The consumer's stream: None is the legacy default stream, as 1 is; 2 is that of each thread; -1 wants no order.
        int64_t consumer = stream.value_or(device::LEGACY);
        if (consumer == 0) throw nb::value_error("__dlpack__: stream=0 is ambiguous; 1 is the legacy default stream, 2 the one of each thread");
        if (consumer < -1) throw nb::value_error("__dlpack__: stream is None, -1 or a stream");
        if (consumer != -1) ready_->before(Stream(consumer));
        GPUVector<float> view(memory().data, {memory().size}, owner_, {}, nb::dtype<float>(), nb::device::cuda::value, memory().id);
        return nb::cast(view, nb::rv_policy::reference);
    }

    Pair device() const { return {nb::device::cuda::value, memory().id}; }

    /// https://nvidia.github.io/numba-cuda/user/cuda_array_interface.html
    nb::dict cuda_array_interface() const {
        if (device::mode[0] != 'c') throw nb::attribute_error("__cuda_array_interface__: this is host mode, there is no CUDA memory");
        ready_->before(device::LEGACY);                     // the producer's own stream may be gone when a consumer reads this
        nb::dict entries;
        entries["shape"] = nb::make_tuple(memory().size);
        entries["typestr"] = "<f4";
        entries["data"] = nb::make_tuple(uintptr_t(memory().data), false);
        entries["strides"] = nb::none();
        entries["stream"] = device::LEGACY;
        entries["version"] = 3;
        return entries;
    }

    void free() {
        memory();
        memory_ = nullptr;
        ready_.reset();
        owner_.reset();
    }

    std::string repr() const {
        if (!memory_) return "Array, freed";
        std::string text = "Array of " + std::to_string(memory_->size) + " floats, device " + std::to_string(memory_->id);
        return text + (device::mode[0] == 'c' ? "" : " (host mode: forbidden host memory, no GPU)");
    }

private:
    const Memory &memory() const {
        if (!memory_) throw nb::value_error("this array is freed already");
        return *memory_;
    }

    Memory *memory_;                                        // owner_ keeps it alive
    std::unique_ptr<device::Event> ready_;
    nb::object owner_;
};
