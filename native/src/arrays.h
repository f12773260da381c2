// How arrays come in and how they go out: what the bindings share.
#pragma once
#include "device.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <memory>
#include <type_traits>
#include <utility>

namespace nb = nanobind;
using namespace nb::literals;
using device::Memory;
using device::Stream;

/// What functions accept: any library's arrays, checked when the function is called. `const` means that they are only read.
using Vector = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cuda>;
using Matrix = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cuda>;
using VectorOut = nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cuda>;
using MatrixOut = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cuda>;

/// The article's type for results. The device is a template argument.
template <typename T> using GPUVector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cuda>;

/// nanobind exchanges the capsules of DLPack 1.0 from 2.10 on.
#define DLPACK_1 (NB_VERSION_MAJOR > 2 || (NB_VERSION_MAJOR == 2 && NB_VERSION_MINOR >= 10))

/// A parameter that is used on a stream of the caller's choice.
///
/// For a parameter of type nb::ndarray, nanobind calls __dlpack__() without a stream, and the producer orders its work before the legacy
/// default stream and no other. So this takes the object as it is, and `on` tells its __dlpack__ the stream, then casts the capsule.
/// nanobind's documentation shows the exporting side of the same rule: https://nanobind.readthedocs.io/en/latest/ndarray.html
/// ("Stream synchronization"). A bare capsule has nobody left to be told. A capsule is never converted, only accepted or refused.
template <typename Array> class Argument : public nb::object {
public:
    static constexpr auto Name = nb::detail::make_caster<Array>::Name;     // the docstring names the array
    using nb::object::object;
    static bool check_(nb::handle h) { return nb::isinstance<nb::capsule>(h) || nb::hasattr(h, "__dlpack_device__"); }

    /// The array, after its producer's work on `stream`. Refused like any wrong argument where it is not what the type says.
    Array on(Stream stream) const {
        nb::object capsule = *this;
        if (!nb::isinstance<nb::capsule>(*this)) {
            auto [type, id] = nb::cast<std::pair<int, int>>(attr("__dlpack_device__")());
            if (type != nb::device::cuda::value) throw nb::next_overload();     // memory of the host knows no stream
            capsule = ordered(stream ? stream : device::LEGACY);                // 0 is not allowed there
        }
        Array array;
        if (!nb::try_cast(capsule, array)) throw nb::next_overload();
        return array;
    }

private:
    nb::object ordered(Stream stream) const {
        nb::object dlpack = attr("__dlpack__");
        constexpr bool written = !std::is_const_v<typename Array::Scalar>;
        if constexpr (written && DLPACK_1) {                // only a capsule of DLPack 1.0 can say that its array is read-only
            try {
                return dlpack("stream"_a = stream, "max_version"_a = nb::make_tuple(1, 0));
            } catch (nb::python_error &error) {
                if (!error.matches(PyExc_TypeError)) throw;                     // a library of before 1.0 does not know the word
            }
        }
        return dlpack("stream"_a = stream);
    }
};

/// The owner of an array: a capsule that frees the memory as soon as Python has forgotten it.
inline nb::capsule owner_of(std::unique_ptr<Memory> memory) {
    nb::capsule owner(memory.get(), [](void *p) noexcept {
        nb::gil_scoped_release other_threads_may_run;       // cudaFree waits for the device
        delete static_cast<Memory *>(p);
    });
    memory.release();                                       // not earlier: making the capsule may throw
    return owner;
}

inline void same(bool fine, const char *message) {
    if (!fine) throw nb::value_error(message);
}

/// New memory with a + b, and the work for it on `stream`. The caller keeps a and b alive until that is done.
inline std::unique_ptr<Memory> sum_of(const Vector &a, const Vector &b, Stream stream, bool wait, unsigned late) {
    same(a.shape(0) == b.shape(0), "add: a and b differ in length");
    same(a.device_id() == b.device_id(), "add: a and b are on different devices");
    nb::gil_scoped_release other_threads_may_run;
    auto out = std::make_unique<Memory>(a.shape(0), a.device_id());
    device::add(a.data(), b.data(), out->data, out->size, out->id, stream, late);
    if (wait) device::wait(out->id, stream);
    return out;
}
