// What the bindings need of a device. device_cuda.cu implements it on an NVIDIA GPU; device_host.cpp on host memory
// that nobody may touch, for machines without a GPU: enough to see labels, ownership and crashes, and nothing else.
#pragma once
#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace device {

/// "cuda" or "host".
extern const char *const mode;

/// A call of the device's runtime failed. The message names the call.
struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A CUDA stream as an integer, the way Python libraries hand it around; 0 means the legacy default stream, as 1 does.
using Stream = uintptr_t;
constexpr Stream LEGACY = 1;

/// Memory of one device for `size` floats, freed with the object. Without elements there is no memory, and `data` is null.
class Memory {
public:
    Memory(size_t size, int id);
    ~Memory();
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;

    float *data = nullptr;
    const size_t size;
    const int id;
};

/// Number of Memory objects that are alive.
long live();

/// Type and number of the device that an address belongs to, as DLPack has them: 1 host, 2 CUDA, 3 pinned host, 13 managed; the number
/// is 0 for all but type 2. A null pointer belongs to the host.
struct Label {
    int type, id;
};
Label label_of(const void *address);

/// The point that a stream's work has reached. Other streams can be made to wait for it.
class Event {
public:
    Event(int id, Stream stream);
    ~Event();
    Event(const Event &) = delete;
    Event &operator=(const Event &) = delete;
    void before(Stream consumer) const;

private:
    const int id_;
    void *handle_ = nullptr;
};

/// Waits until all work given to the stream so far is done, and reports what went wrong in it.
void wait(int id, Stream stream);

void copy_to_host(float *to, const float *from, size_t size, int id);
void fill(Memory &memory, float value);

// The kernels. All of them return before the work is done, so their arrays must live until it is.

/// out = a + b. `late` holds the work back for that many milliseconds, with zeros in `out`: for experiments on ordering.
void add(const float *a, const float *b, float *out, size_t size, int id, Stream stream, unsigned late = 0);

/// out = x / sqrt(mean(x * x) + epsilon) * weight for each row of x (rows, columns): RMS normalisation in one pass.
void rms_norm(const float *x, const float *weight, float *out, size_t rows, size_t columns, float epsilon, int id, Stream stream);

}  // namespace device
