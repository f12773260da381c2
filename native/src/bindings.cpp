// GPU arrays for Python through nanobind: labelled wrongly, labelled rightly, and as a class that speaks the protocols.
// The same source builds with nanobind 2.1.0 (whose label is wrong) and 3.1.0.
#include "device.h"
#include "dlpack.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;
using device::Memory;
using device::Stream;

/// What functions accept: any library's arrays, checked when the function is called.
using Vector = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cuda>;
using Matrix = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cuda>;
using VectorOut = nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cuda>;
using MatrixOut = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cuda>;

/// The article's type for results. The device is a template argument.
template <typename T> using GPUVector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cuda>;

static void same(bool fine, const char *message) {
    if (!fine) throw nb::value_error(message);
}

// --- add, and three ways to return its result as nb::ndarray

static std::unique_ptr<Memory> sum_of(const Vector &a, const Vector &b, Stream stream, bool wait, unsigned late) {
    same(a.shape(0) == b.shape(0), "add: a and b differ in length");
    same(a.device_id() == b.device_id(), "add: a and b are on different devices");
    nb::gil_scoped_release other_threads_may_run;
    auto out = std::make_unique<Memory>(a.shape(0), a.device_id());
    device::add(a.data(), b.data(), out->data, out->size, out->id, stream, late);
    if (wait) device::wait(out->id, stream);
    return out;
}

/// Hands the memory to a capsule: when Python has forgotten the capsule, the deleter frees the memory.
static nb::capsule owner_of(std::unique_ptr<Memory> memory) {
    return nb::capsule(memory.release(), [](void *p) noexcept { delete static_cast<Memory *>(p); });
}

static GPUVector<float> add_template_only(Vector a, Vector b, Stream stream, bool wait, unsigned late) {
    auto out = sum_of(a, b, stream, wait, late);
    Memory &sum = *out;
    return GPUVector<float>(sum.data, {sum.size}, owner_of(std::move(out)));
}

static GPUVector<float> add_explicit(Vector a, Vector b, Stream stream, bool wait, unsigned late) {
    auto out = sum_of(a, b, stream, wait, late);
    Memory &sum = *out;
    return GPUVector<float>(sum.data, {sum.size}, owner_of(std::move(out)), /* strides */ {}, nb::dtype<float>(),
                            nb::device::cuda::value, sum.id);
}

static nb::ndarray<float, nb::ndim<1>, nb::c_contig> add_untagged(Vector a, Vector b, Stream stream, bool wait, unsigned late) {
    auto out = sum_of(a, b, stream, wait, late);
    Memory &sum = *out;
    return nb::ndarray<float, nb::ndim<1>, nb::c_contig>(sum.data, {sum.size}, owner_of(std::move(out)));
}

// --- wrong on purpose

/// The documentation's deleter for host arrays, on device memory.
static GPUVector<float> wrong_deleter(size_t size) {
    float *data = std::make_unique<Memory>(size, 0).release()->data;
    nb::capsule owner(data, [](void *p) noexcept { delete[] static_cast<float *>(p); });
    return GPUVector<float>(data, {size}, owner, {}, nb::dtype<float>(), nb::device::cuda::value);
}

/// Nobody frees the memory, so nanobind does not know how long it lives and wants to copy it.
static GPUVector<float> no_owner(size_t size) {
    float *data = std::make_unique<Memory>(size, 0).release()->data;
    return GPUVector<float>(data, {size}, nb::handle(), {}, nb::dtype<float>(), nb::device::cuda::value);
}

/// `size` ones of type T in host memory, said to be of type `dtype`.
template <typename T> nb::ndarray<nb::numpy, T, nb::ndim<1>> ones(size_t size, nb::dlpack::dtype dtype) {
    T *data = new T[size];
    std::fill(data, data + size, T(1));
    nb::capsule owner(data, [](void *p) noexcept { delete[] static_cast<T *>(p); });
    return {data, {size}, owner, {}, dtype};
}

// --- the robust way: a class that exports itself

/// A vector on a device. Views made from it share the memory, which is freed with the last of them.
class Array {
public:
    Array(std::shared_ptr<Memory> memory, Stream stream)
        : memory_(std::move(memory)), stream_(stream), ready_(std::make_unique<device::Event>(memory_->id, stream)) {}

    const Memory &memory() const {
        if (!memory_) throw nb::value_error("this array is freed already");
        return *memory_;
    }

    void free() {
        memory();
        memory_.reset();
        ready_.reset();
    }

    using Pair = std::pair<int, int>;

    /// https://data-apis.org/array-api/latest/API_specification/generated/array_api.array.__dlpack__.html
    nb::object dlpack(std::optional<int64_t> stream, std::optional<Pair> max_version, std::optional<Pair> dl_device, std::optional<bool> copy) const {
        if (copy.value_or(false)) throw nb::buffer_error("__dlpack__: copy=True is not offered; this array is never copied");
        if (dl_device.value_or(device()) != device()) throw nb::buffer_error("__dlpack__: the array cannot move to another device");
        // The consumer's stream: None is the legacy default stream, as 1 is; -1 wants no order; 0 could mean either default.
        int64_t consumer = stream.value_or(1);
        if (consumer == 0) throw nb::value_error("__dlpack__: stream=0 is ambiguous; 1 is the legacy default stream, 2 the one of each thread");
        if (consumer < -1) throw nb::value_error("__dlpack__: stream is None, -1 or a stream");
        if (consumer != -1) ready_->before(Stream(consumer));
        PyObject *made = max_version.value_or(Pair{0, 0}).first >= 1 ? dlpack::capsule<dlpack::ManagedVersioned>(memory_)
                                                                     : dlpack::capsule<dlpack::Managed>(memory_);
        if (!made) throw nb::python_error();
        return nb::steal(made);
    }

    Pair device() const { return {dlpack::kDLCUDA, memory().id}; }

    /// https://nvidia.github.io/numba-cuda/user/cuda_array_interface.html
    nb::dict cuda_array_interface() const {
        if (device::mode[0] != 'c') throw nb::attribute_error("__cuda_array_interface__: this is host mode, there is no CUDA memory");
        nb::dict entries;
        entries["shape"] = nb::make_tuple(memory().size);
        entries["typestr"] = "<f4";
        entries["data"] = nb::make_tuple(uintptr_t(memory().data), false);
        entries["strides"] = nb::none();
        entries["stream"] = stream_ ? stream_ : 1;      // 0 is not allowed there either
        entries["version"] = 3;
        return entries;
    }

    std::string repr() const {
        std::string text = "Array of " + std::to_string(memory().size) + " floats, device " + std::to_string(memory().id);
        return text + (device::mode[0] == 'c' ? "" : " (host mode: forbidden host memory, no GPU)");
    }

private:
    std::shared_ptr<Memory> memory_;
    Stream stream_;
    std::unique_ptr<device::Event> ready_;
};

static Array full(size_t size, float value, int id) {
    nb::gil_scoped_release other_threads_may_run;
    auto memory = std::make_shared<Memory>(size, id);
    device::fill(*memory, value);
    return Array(std::move(memory), 0);
}

static Array add(Vector a, Vector b, Stream stream, unsigned late) {
    return Array(sum_of(a, b, stream, /* wait */ false, late), stream);
}

static void rms_norm(Matrix x, Vector weight, MatrixOut out, float epsilon, Stream stream) {
    same(x.shape(0) == out.shape(0) && x.shape(1) == out.shape(1), "rms_norm: x and out differ in shape");
    same(x.shape(1) == weight.shape(0), "rms_norm: weight must have one element for each column of x");
    same(x.device_id() == weight.device_id() && x.device_id() == out.device_id(), "rms_norm: x, weight and out are on different devices");
    device::rms_norm(x.data(), weight.data(), out.data(), x.shape(0), x.shape(1), epsilon, out.device_id(), stream);
}

/// A NumPy array with the elements of a device's array.
static nb::ndarray<nb::numpy, float> to_host(nb::ndarray<const float, nb::c_contig, nb::device::cuda> a) {
    auto elements = std::make_unique<float[]>(a.size());
    {
        nb::gil_scoped_release other_threads_may_run;
        device::copy_to_host(elements.get(), a.data(), a.size(), a.device_id());
    }
    std::vector<size_t> shape(a.ndim());
    for (size_t i = 0; i < shape.size(); ++i) shape[i] = a.shape(i);
    float *data = elements.release();
    nb::capsule owner(data, [](void *p) noexcept { delete[] static_cast<float *>(p); });
    return nb::ndarray<nb::numpy, float>(data, shape.size(), shape.data(), owner);
}

// --- for the comparison of call overheads: the same launch, with ready memory and no wait

static void add_into(Vector a, Vector b, VectorOut out, Stream stream) {
    same(a.shape(0) == b.shape(0) && a.shape(0) == out.shape(0), "add_into: a, b and out differ in length");
    device::add(a.data(), b.data(), out.data(), out.shape(0), out.device_id(), stream);
}

static void add_addresses(uintptr_t a, uintptr_t b, uintptr_t out, size_t size, Stream stream) {
    device::add((const float *) a, (const float *) b, (float *) out, size, 0, stream);
}

extern "C" NB_EXPORT int add_from_c(const float *a, const float *b, float *out, size_t size, Stream stream) noexcept {
    try {
        device::add(a, b, out, size, 0, stream);
        return 0;
    } catch (const device::Error &) {
        return 1;
    }
}

NB_MODULE(device_arrays, m) {
    nb::exception<device::Error>(m, "DeviceError", PyExc_RuntimeError);
    m.attr("mode") = device::mode;
    m.attr("nanobind") = std::to_string(NB_VERSION_MAJOR) + "." + std::to_string(NB_VERSION_MINOR) + "." + std::to_string(NB_VERSION_PATCH);
    m.def("live", &device::live, "Number of blocks of device memory that are alive");

    m.def("full", &full, "size"_a, "value"_a, "device"_a = 0);
    m.def("add", &add, "a"_a, "b"_a, "stream"_a = 0, "late"_a = 0);
    m.def("rms_norm", &rms_norm, "x"_a, "weight"_a, "out"_a, "epsilon"_a = 1e-6f, "stream"_a = 0);
    m.def("to_host", &to_host, "a"_a);

    m.def("add_template_only", &add_template_only, "a"_a, "b"_a, "stream"_a = 0, "wait"_a = true, "late"_a = 0);
    m.def("add_explicit", &add_explicit, "a"_a, "b"_a, "stream"_a = 0, "wait"_a = true, "late"_a = 0);
    m.def("add_untagged", &add_untagged, "a"_a, "b"_a, "stream"_a = 0, "wait"_a = true, "late"_a = 0);

    m.def("wrong_deleter", &wrong_deleter, "size"_a);
    m.def("no_owner", &no_owner, "size"_a);
    m.def("wrong_dtype", [](size_t size) { return ones<double>(size, nb::dtype<float>()); }, "size"_a);
    m.def("right_dtype", [](size_t size) { return ones<double>(size, nb::dtype<double>()); }, "size"_a);

    m.def("add_into", &add_into, "a"_a, "b"_a, "out"_a, "stream"_a = 0);
    m.def("add_addresses", &add_addresses, "a"_a, "b"_a, "out"_a, "size"_a, "stream"_a = 0);

    nb::class_<Array>(m, "Array")
        .def("__dlpack__", &Array::dlpack, nb::kw_only(), "stream"_a = nb::none(), "max_version"_a = nb::none(),
             "dl_device"_a = nb::none(), "copy"_a = nb::none())
        .def("__dlpack_device__", &Array::device)
        .def_prop_ro("__cuda_array_interface__", &Array::cuda_array_interface)
        .def("free", &Array::free, "Give the memory up now; views that others hold stay valid")
        .def("__repr__", &Array::repr);
}
