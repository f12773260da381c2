// device.h without a GPU: host memory whose pages nobody may touch (mprotect). To code on the CPU such an address behaves
// like one from cudaMalloc: reading it is a segmentation fault. Only the functions below open the pages, for their own
// work. There are no streams here, no timing and no GPU; the number of a device is a mere label, 0 or 1.
#include "device.h"

#include <sys/mman.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

namespace device {

const char *const mode = "host";

constexpr size_t PAGE = 4096, LIMIT = size_t(1) << 30;

static void check(bool fine, const char *call) {
    if (!fine) throw Error(std::string(call) + ": " + std::strerror(errno));
}

static std::mutex mutex;
static std::map<uintptr_t, size_t> blocks;  // what is allocated: address and bytes
static std::atomic<long> alive{0};
long live() { return alive; }

static size_t bytes_of(size_t size) { return (std::max<size_t>(size, 1) * sizeof(float) + PAGE - 1) / PAGE * PAGE; }

Memory::Memory(size_t size, int id) : size(size), id(id) {
    if (id < 0 || id > 1) throw Error("device " + std::to_string(id) + ": host mode labels its memory 0 or 1");
    if (size > LIMIT / sizeof(float)) throw Error("out of memory: host mode offers 1 GiB");
    // One page more in front: what lies before the address is forbidden too, as on a GPU.
    void *start = mmap(nullptr, PAGE + bytes_of(size), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(start != MAP_FAILED, "mmap");
    data = reinterpret_cast<float *>(static_cast<char *>(start) + PAGE);
    std::lock_guard<std::mutex> lock(mutex);
    blocks[reinterpret_cast<uintptr_t>(data)] = bytes_of(size);
    ++alive;
}

Memory::~Memory() {
    std::lock_guard<std::mutex> lock(mutex);
    blocks.erase(reinterpret_cast<uintptr_t>(data));
    munmap(reinterpret_cast<char *>(data) - PAGE, PAGE + bytes_of(size));
    --alive;
}

/// Opens all blocks for the life of the object, one such object at a time.
class Open {
public:
    Open() : lock_(mutex) { protect(PROT_READ | PROT_WRITE); }
    ~Open() { protect(PROT_NONE); }

private:
    static void protect(int access) {
        for (auto &[address, bytes] : blocks) mprotect(reinterpret_cast<void *>(address), bytes, access);
    }
    std::lock_guard<std::mutex> lock_;
};

void copy_to_host(float *to, const float *from, size_t size, int) {
    Open open;
    std::copy(from, from + size, to);
}

void fill(Memory &memory, float value) {
    Open open;
    std::fill(memory.data, memory.data + memory.size, value);
}

void add(const float *a, const float *b, float *out, size_t size, int, Stream, unsigned) {
    Open open;
    for (size_t i = 0; i < size; ++i) out[i] = a[i] + b[i];
}

void rms_norm(const float *x, const float *weight, float *out, size_t rows, size_t columns, float epsilon, int, Stream) {
    Open open;
    for (size_t r = 0; r < rows; ++r, x += columns, out += columns) {
        float sum = 0;
        for (size_t i = 0; i < columns; ++i) sum += x[i] * x[i];
        float scale = 1 / std::sqrt(sum / columns + epsilon);
        for (size_t i = 0; i < columns; ++i) out[i] = x[i] * scale * weight[i];
    }
}

Event::Event(int id, Stream) : id_(id) {}
Event::~Event() = default;
void Event::before(Stream) const { (void) id_; (void) handle_; }
void wait(int, Stream) {}

}  // namespace device
