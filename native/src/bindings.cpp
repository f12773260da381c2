// GPU arrays for Python through nanobind. The same source builds with nanobind 2.1.0, whose label is wrong, and with 3.1.0.
#include "array.h"

#include <algorithm>
#include <vector>

void bind_experiments(nb::module_ &m);                      // experiments.cpp

// --- a + b as nb::ndarray, three ways

static GPUVector<float> add_template_only(Argument<Vector> a, Argument<Vector> b, Stream stream, bool wait, unsigned late) {
    auto out = sum_of(a.on(stream), b.on(stream), stream, wait, late);
    Memory &sum = *out;
    return GPUVector<float>(sum.data, {sum.size}, owner_of(std::move(out)));
}

static GPUVector<float> add_explicit(Argument<Vector> a, Argument<Vector> b, Stream stream, bool wait, unsigned late) {
    auto out = sum_of(a.on(stream), b.on(stream), stream, wait, late);
    Memory &sum = *out;
    return GPUVector<float>(sum.data, {sum.size}, owner_of(std::move(out)), /* strides */ {}, nb::dtype<float>(),
                            nb::device::cuda::value, sum.id);
}

/// A factory: the label is what the driver says of the address. The type promises no device, since none is known to the compiler.
/// An empty array has no address to ask about; it is on the GPU `id`.
template <typename T> nb::ndarray<T, nb::ndim<1>, nb::c_contig> labelled(T *data, size_t size, int id, nb::handle owner) {
    auto [type, number] = size ? device::label_of(data) : device::Label{nb::device::cuda::value, id};
    return {data, {size}, owner, /* strides */ {}, nb::dtype<T>(), type, number};
}

static auto add_labelled(Argument<Vector> a, Argument<Vector> b, Stream stream, bool wait, unsigned late) {
    auto out = sum_of(a.on(stream), b.on(stream), stream, wait, late);
    Memory &sum = *out;
    return labelled(sum.data, sum.size, sum.id, owner_of(std::move(out)));
}

static std::pair<int, int> label_of(uintptr_t address) {
    auto [type, id] = device::label_of(reinterpret_cast<const void *>(address));
    return {type, id};
}

// --- with Array

static Array full(size_t size, float value, int id) {
    std::unique_ptr<Memory> memory;
    {
        nb::gil_scoped_release other_threads_may_run;
        memory = std::make_unique<Memory>(size, id);
        device::fill(*memory, value);
    }
    return Array(std::move(memory), device::LEGACY);
}

static Array add(Argument<Vector> a, Argument<Vector> b, Stream stream, unsigned late) {
    return Array(sum_of(a.on(stream), b.on(stream), stream, /* wait */ false, late), stream);
}

// --- into the caller's array

static void rms_norm(Argument<Matrix> x_, Argument<Vector> weight_, Argument<MatrixOut> out_, float epsilon, Stream stream) {
    auto [x, weight, out] = std::make_tuple(x_.on(stream), weight_.on(stream), out_.on(stream));
    same(x.shape(0) == out.shape(0) && x.shape(1) == out.shape(1), "rms_norm: x and out differ in shape");
    same(x.shape(1) == weight.shape(0), "rms_norm: weight must have one element for each column of x");
    same(x.device_id() == weight.device_id() && x.device_id() == out.device_id(), "rms_norm: x, weight and out are on different devices");
    device::rms_norm(x.data(), weight.data(), out.data(), x.shape(0), x.shape(1), epsilon, out.device_id(), stream);
}

/// On the legacy default stream, for which nanobind's own conversion of arguments is right.
static void add_into(Vector a, Vector b, VectorOut out) {
    same(a.shape(0) == b.shape(0) && a.shape(0) == out.shape(0), "add_into: a, b and out differ in length");
    same(a.device_id() == b.device_id() && a.device_id() == out.device_id(), "add_into: a, b and out are on different devices");
    device::add(a.data(), b.data(), out.data(), out.shape(0), out.device_id(), device::LEGACY);
}

static void add_into_on(Argument<Vector> a_, Argument<Vector> b_, Argument<VectorOut> out_, Stream stream) {
    auto [a, b, out] = std::make_tuple(a_.on(stream), b_.on(stream), out_.on(stream));
    same(a.shape(0) == b.shape(0) && a.shape(0) == out.shape(0), "add_into: a, b and out differ in length");
    same(a.device_id() == b.device_id() && a.device_id() == out.device_id(), "add_into: a, b and out are on different devices");
    device::add(a.data(), b.data(), out.data(), out.shape(0), out.device_id(), stream);
}

/// A NumPy array with the elements of a device's array. The copy runs on the legacy default stream.
static nb::ndarray<nb::numpy, float> to_host(nb::ndarray<const float, nb::c_contig, nb::device::cuda> a) {
    auto elements = std::make_unique<float[]>(a.size());
    {
        nb::gil_scoped_release other_threads_may_run;
        device::copy_to_host(elements.get(), a.data(), a.size(), a.device_id());
    }
    std::vector<size_t> shape(a.ndim());
    for (size_t i = 0; i < shape.size(); ++i) shape[i] = a.shape(i);
    nb::capsule owner(elements.get(), [](void *p) noexcept { delete[] static_cast<float *>(p); });
    return nb::ndarray<nb::numpy, float>(elements.release(), shape.size(), shape.data(), owner);
}

// --- for the comparison of call overheads: the same launch with bare addresses, on device 0

static void add_addresses(uintptr_t a, uintptr_t b, uintptr_t out, size_t size, Stream stream) {
    device::add((const float *) a, (const float *) b, (float *) out, size, 0, stream);
}

static void add_repeatedly(uintptr_t a, uintptr_t b, uintptr_t out, size_t size, Stream stream, unsigned times) {
    while (times--) add_addresses(a, b, out, size, stream);
}

extern "C" NB_EXPORT int add_from_c(const float *a, const float *b, float *out, size_t size, Stream stream) noexcept {
    try {
        device::add(a, b, out, size, 0, stream);
        return 0;
    } catch (const device::Error &) {
        return 1;
    }
}

NB_MODULE(_ext, m) {
    m.doc() = "GPU arrays through nanobind. Streams are integers; the caller keeps arguments alive until their stream's work is done.";
    nb::exception<device::Error>(m, "DeviceError", PyExc_RuntimeError);
    m.attr("mode") = device::mode;
    m.attr("nanobind") = std::to_string(NB_VERSION_MAJOR) + "." + std::to_string(NB_VERSION_MINOR) + "." + std::to_string(NB_VERSION_PATCH);
    m.def("live", &device::live, "Number of blocks of device memory that are alive");
    m.def("label_of", &label_of, "address"_a, "DLPack's device of an address, type and number, as the driver says");

    m.def("full", &full, "size"_a, "value"_a, "device"_a = 0, "`size` times `value`, ready when this returns");
    m.def("add", &add, "a"_a, "b"_a, "stream"_a = 0, "late"_a = 0, "a + b, computed on `stream`; `late` holds it back, in milliseconds");
    m.def("to_host", &to_host, "a"_a, "NumPy array with the elements of `a`");

    m.def("add_template_only", &add_template_only, "a"_a, "b"_a, "stream"_a = 0, "wait"_a = true, "late"_a = 0);
    m.def("add_explicit", &add_explicit, "a"_a, "b"_a, "stream"_a = 0, "wait"_a = true, "late"_a = 0);
    m.def("add_labelled", &add_labelled, "a"_a, "b"_a, "stream"_a = 0, "wait"_a = true, "late"_a = 0);

    // What is written to must be the caller's array, not a converted copy of it: noconvert.
    m.def("add_into", &add_into, "a"_a, "b"_a, "out"_a.noconvert(), "out = a + b on the legacy default stream");
    m.def("add_into", &add_into_on, "a"_a, "b"_a, "out"_a, "stream"_a, "out = a + b on `stream`");
    m.def("rms_norm", &rms_norm, "x"_a, "weight"_a, "out"_a, "epsilon"_a = 1e-6f, "stream"_a = 0);

    m.def("add_addresses", &add_addresses, "a"_a, "b"_a, "out"_a, "size"_a, "stream"_a = 0);
    m.def("add_repeatedly", &add_repeatedly, "a"_a, "b"_a, "out"_a, "size"_a, "stream"_a, "times"_a);

    nb::class_<Array>(m, "Array")
        .def("__dlpack__", &Array::dlpack, nb::kw_only(), "stream"_a = nb::none(), "max_version"_a = nb::none(),
             "dl_device"_a = nb::none(), "copy"_a = nb::none())
        .def("__dlpack_device__", &Array::device)
        .def_prop_ro("__cuda_array_interface__", &Array::cuda_array_interface)
        .def("free", &Array::free, "Give the memory up now; views that others hold stay valid")
        .def("__repr__", &Array::repr);

    bind_experiments(m);
}
