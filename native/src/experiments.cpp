// Wrong on purpose. Each function has one mistake that somebody made, and chapter 5 shows what comes of it.
#include "arrays.h"

#include <algorithm>

using Untagged = nb::ndarray<float, nb::ndim<1>, nb::c_contig>;

/// The return type names no device, and neither does the constructor.
static Untagged add_untagged(Argument<Vector> a, Argument<Vector> b) {
    auto out = sum_of(a.on(device::LEGACY), b.on(device::LEGACY), device::LEGACY, /* wait */ true, 0);
    Memory &sum = *out;
    return Untagged(sum.data, {sum.size}, owner_of(std::move(out)));
}

/// nanobind's own conversion of arguments, which names no stream, before work on a stream of the caller's.
static GPUVector<float> add_unordered(Vector a, Vector b, Stream stream) {
    auto out = sum_of(a, b, stream, /* wait */ true, 0);
    Memory &sum = *out;
    return GPUVector<float>(sum.data, {sum.size}, owner_of(std::move(out)), {}, nb::dtype<float>(), nb::device::cuda::value, sum.id);
}

/// Like add_into, but `out` may be converted: into a copy, which gets the result and is forgotten.
static void add_into_converting(Vector a, Vector b, VectorOut out) {
    same(a.shape(0) == b.shape(0) && a.shape(0) == out.shape(0), "add_into_converting: a, b and out differ in length");
    device::add(a.data(), b.data(), out.data(), out.shape(0), out.device_id(), device::LEGACY);
}

/// The documentation's deleter for host arrays, on device memory.
static GPUVector<float> wrong_deleter(size_t size) {
    float *data = std::make_unique<Memory>(size, 0).release()->data;
    nb::capsule owner(data, [](void *p) noexcept { delete[] static_cast<float *>(p); });
    return GPUVector<float>(data, {size}, owner, {}, nb::dtype<float>(), nb::device::cuda::value);
}

/// Nobody frees the memory, so nanobind does not know how long it lives, and wants to copy it.
static GPUVector<float> no_owner(size_t size) {
    float *data = std::make_unique<Memory>(size, 0).release()->data;
    return GPUVector<float>(data, {size}, nb::handle(), {}, nb::dtype<float>(), nb::device::cuda::value);
}

/// The memory ends with this function, and rv_policy::reference says that nobody need care.
static GPUVector<float> no_owner_by_reference(size_t size) {
    Memory memory(size, 0);
    return GPUVector<float>(memory.data, {size}, nb::handle(), {}, nb::dtype<float>(), nb::device::cuda::value);
}

/// Makes the owner's capsule, a Python object. The binding below has released the GIL.
static GPUVector<float> without_gil(size_t size) {
    auto memory = std::make_unique<Memory>(size, 0);
    float *data = memory->data;
    nb::capsule owner(memory.release(), [](void *p) noexcept { delete static_cast<Memory *>(p); });
    return GPUVector<float>(data, {size}, owner, {}, nb::dtype<float>(), nb::device::cuda::value);
}

/// `size` ones of type T in host memory, said to be of type `dtype`.
template <typename T> nb::ndarray<nb::numpy, T, nb::ndim<1>> ones(size_t size, nb::dlpack::dtype dtype) {
    T *data = new T[size];
    std::fill(data, data + size, T(1));
    nb::capsule owner(data, [](void *p) noexcept { delete[] static_cast<T *>(p); });
    return {data, {size}, owner, {}, dtype};
}

/// Two rows and three columns. Order and device stand in the type alone.
static nb::ndarray<float, nb::ndim<2>, nb::f_contig, nb::device::cuda> fortran() {
    auto out = std::make_unique<Memory>(6, 0);
    float *data = out->data;
    return {data, {2, 3}, owner_of(std::move(out))};
}

#if DLPACK_1
/// Zeros that the type declares constant, as an object with __dlpack__ of nanobind's own.
static nb::ndarray<nb::array_api, const float, nb::ndim<1>, nb::device::cuda> constant(size_t size) {
    auto out = std::make_unique<Memory>(size, 0);
    device::fill(*out, 0);
    float *data = out->data;
    return {data, {size}, owner_of(std::move(out))};
}
#endif

void bind_experiments(nb::module_ &m) {
    m.def("add_untagged", &add_untagged, "a"_a, "b"_a);
    m.def("add_unordered", &add_unordered, "a"_a, "b"_a, "stream"_a);
    m.def("add_into_converting", &add_into_converting, "a"_a, "b"_a, "out"_a);
    m.def("wrong_deleter", &wrong_deleter, "size"_a);
    m.def("no_owner", &no_owner, "size"_a);
    m.def("no_owner_by_reference", &no_owner_by_reference, "size"_a, nb::rv_policy::reference);
    m.def("without_gil", &without_gil, "size"_a, nb::call_guard<nb::gil_scoped_release>());
    m.def("wrong_dtype", [](size_t size) { return ones<double>(size, nb::dtype<float>()); }, "size"_a);
    m.def("right_dtype", [](size_t size) { return ones<double>(size, nb::dtype<double>()); }, "size"_a);
    m.def("fortran", &fortran);
#if DLPACK_1
    m.def("constant", &constant, "size"_a);
#endif
}
