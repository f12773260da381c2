// device.h on an NVIDIA GPU. Compiled by nvcc; knows nothing of Python.
#include "device.h"

#include <cuda_runtime.h>
#include <atomic>
#include <string>

namespace device {

const char *const mode = "cuda";

// --- errors: every call goes through CHECK

static void check(cudaError_t status, const char *call) {
    if (status == cudaSuccess) return;
    cudaGetLastError();                     // or the next check of a launch would find this one again
    throw Error(std::string(call) + ": " + cudaGetErrorName(status) + ": " + cudaGetErrorString(status));
}
#define CHECK(function, ...) check(function(__VA_ARGS__), #function)

static cudaStream_t handle(Stream stream) { return reinterpret_cast<cudaStream_t>(stream); }

/// Makes a device current for the life of the object.
class Current {
public:
    explicit Current(int id) {
        CHECK(cudaGetDevice, &previous_);
        if ((changed_ = id != previous_)) CHECK(cudaSetDevice, id);
    }
    ~Current() {
        if (changed_) cudaSetDevice(previous_);
    }
    Current(const Current &) = delete;
    Current &operator=(const Current &) = delete;

private:
    int previous_ = 0;
    bool changed_;
};

// --- memory

static std::atomic<long> alive{0};
long live() { return alive; }

Memory::Memory(size_t size, int id) : size(size), id(id) {
    Current current(id);
    if (size > PTRDIFF_MAX / sizeof(float)) check(cudaErrorMemoryAllocation, "cudaMalloc");
    if (size) CHECK(cudaMalloc, reinterpret_cast<void **>(&data), size * sizeof(float));
    ++alive;
}

/// cudaFree waits for all work of the device. cudaFreeAsync would not, but it frees in the order of one stream, and DLPack's deleter does
/// not say on which streams the consumers have used the memory. Nothing could be done about an error here.
Memory::~Memory() {
    cudaFree(data);
    --alive;
}

Label label_of(const void *address) {
    cudaPointerAttributes found;
    CHECK(cudaPointerGetAttributes, &found, address);
    switch (found.type) {
        case cudaMemoryTypeDevice: return {2, found.device};
        case cudaMemoryTypeHost: return {3, 0};             // DLPack's header: 0 for pinned and managed memory
        case cudaMemoryTypeManaged: return {13, 0};
        default: return {1, 0};
    }
}

void copy_to_host(float *to, const float *from, size_t size, int id) {
    Current current(id);
    CHECK(cudaMemcpy, to, from, size * sizeof(float), cudaMemcpyDeviceToHost);
}

// --- streams

Event::Event(int id, Stream stream) : id_(id) {
    Current current(id);
    cudaEvent_t event;
    CHECK(cudaEventCreateWithFlags, &event, cudaEventDisableTiming);
    handle_ = event;
    if (cudaError_t status = cudaEventRecord(event, handle(stream))) {
        cudaEventDestroy(event);
        check(status, "cudaEventRecord");
    }
}

Event::~Event() { cudaEventDestroy(static_cast<cudaEvent_t>(handle_)); }

void Event::before(Stream consumer) const {
    Current current(id_);
    CHECK(cudaStreamWaitEvent, handle(consumer), static_cast<cudaEvent_t>(handle_), 0);
}

void wait(int id, Stream stream) {
    Current current(id);
    CHECK(cudaStreamSynchronize, handle(stream));
}

// --- kernels

constexpr unsigned THREADS = 256;
constexpr unsigned EACH = 4;                // elements of one thread; more loads under way hide more of the memory's latency

__global__ void fill_kernel(float *out, float value, size_t size) {
    size_t i = blockIdx.x * size_t(THREADS) + threadIdx.x;
    if (i < size) out[i] = value;
}

__global__ void add_kernel(const float *a, const float *b, float *out, size_t size) {
    size_t first = blockIdx.x * size_t(THREADS * EACH) + threadIdx.x;
    float x[EACH], y[EACH];
#pragma unroll
    for (unsigned k = 0; k < EACH; ++k) {
        size_t i = first + k * THREADS;
        if (i < size) x[k] = a[i], y[k] = b[i];
    }
#pragma unroll
    for (unsigned k = 0; k < EACH; ++k) {
        size_t i = first + k * THREADS;
        if (i < size) out[i] = x[k] + y[k];
    }
}

static __device__ float warp_sum(float value) {
    for (int distance = 16; distance; distance /= 2) value += __shfl_xor_sync(~0u, value, distance);
    return value;
}

/// One block a row.
__global__ void rms_norm_kernel(const float *__restrict__ x, const float *__restrict__ weight, float *__restrict__ out,
                                size_t columns, float epsilon) {
    __shared__ float partial[THREADS / 32];
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;
    float sum = 0;
    for (size_t i = threadIdx.x; i < columns; i += THREADS) sum += x[i] * x[i];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (float part : partial) sum += part;
    float scale = rsqrtf(sum / columns + epsilon);
    for (size_t i = threadIdx.x; i < columns; i += THREADS) out[i] = x[i] * scale * weight[i];   // x comes from the cache now
}

__global__ void hold_kernel(unsigned milliseconds) {
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));       // nanoseconds
    do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - start < milliseconds * 1000000ull);
}

static unsigned blocks(size_t size, unsigned each) { return unsigned((size + each - 1) / each); }

void fill(Memory &memory, float value) {
    if (!memory.size) return;
    Current current(memory.id);
    fill_kernel<<<blocks(memory.size, THREADS), THREADS>>>(memory.data, value, memory.size);
    CHECK(cudaGetLastError);
    CHECK(cudaDeviceSynchronize);
}

void add(const float *a, const float *b, float *out, size_t size, int id, Stream stream, unsigned late) {
    if (!size) return;
    Current current(id);
    if (late) {
        CHECK(cudaMemset, out, 0, size * sizeof(float));
        CHECK(cudaDeviceSynchronize);
        hold_kernel<<<1, 1, 0, handle(stream)>>>(late);
    }
    add_kernel<<<blocks(size, THREADS * EACH), THREADS, 0, handle(stream)>>>(a, b, out, size);
    CHECK(cudaGetLastError);
}

void rms_norm(const float *x, const float *weight, float *out, size_t rows, size_t columns, float epsilon, int id, Stream stream) {
    if (!rows || !columns) return;
    Current current(id);
    rms_norm_kernel<<<unsigned(rows), THREADS, 0, handle(stream)>>>(x, weight, out, columns, epsilon);
    CHECK(cudaGetLastError);
}

}  // namespace device
