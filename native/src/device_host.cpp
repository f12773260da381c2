// device.h without a GPU: host memory whose pages nobody may touch (mprotect). To code on the CPU such an address behaves
// like one from cudaMalloc: reading it is a segmentation fault. Only the functions below open the pages, for their own
// work. There are no streams here, no timing and no GPU; the number of a device is a mere label, 0 or 1.
#include "device.h"

#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

namespace device {

const char *const mode = "host";

static const size_t PAGE = size_t(sysconf(_SC_PAGESIZE));
constexpr size_t LIMIT = size_t(1) << 30;

static void check(bool fine, const char *call) {
    if (!fine) throw Error(std::string(call) + ": " + std::strerror(errno));
}

struct Block {
    size_t bytes;
    int id;
};

static std::mutex mutex;
static std::map<uintptr_t, Block> blocks;   // what is allocated, by its address
static std::atomic<long> alive{0};
long live() { return alive; }

static size_t bytes_of(size_t size) { return (size * sizeof(float) + PAGE - 1) / PAGE * PAGE; }

Memory::Memory(size_t size, int id) : size(size), id(id) {
    if (id < 0 || id > 1) throw Error("device " + std::to_string(id) + ": host mode labels its memory 0 or 1");
    if (size > LIMIT / sizeof(float)) throw Error("out of memory: host mode offers 1 GiB");
    if (size) {
        // One page more in front: what lies before the address is forbidden too, as on a GPU.
        void *start = mmap(nullptr, PAGE + bytes_of(size), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        check(start != MAP_FAILED, "mmap");
        data = reinterpret_cast<float *>(static_cast<char *>(start) + PAGE);
        std::lock_guard<std::mutex> lock(mutex);
        blocks[reinterpret_cast<uintptr_t>(data)] = {bytes_of(size), id};
    }
    ++alive;
}

Memory::~Memory() {
    if (data) {
        std::lock_guard<std::mutex> lock(mutex);
        blocks.erase(reinterpret_cast<uintptr_t>(data));
        munmap(reinterpret_cast<char *>(data) - PAGE, PAGE + bytes_of(size));
    }
    --alive;
}

Label label_of(const void *address) {
    std::lock_guard<std::mutex> lock(mutex);
    auto above = blocks.upper_bound(reinterpret_cast<uintptr_t>(address));
    if (above == blocks.begin()) return {1, 0};
    auto [start, block] = *std::prev(above);
    return reinterpret_cast<uintptr_t>(address) < start + block.bytes ? Label{2, block.id} : Label{1, 0};
}

/// Opens all blocks for the life of the object, one such object at a time.
class Open {
public:
    Open() : lock_(mutex) { check(protect(PROT_READ | PROT_WRITE), "mprotect"); }
    ~Open() {
        if (protect(PROT_NONE)) return;
        std::perror("mprotect: forbidden memory would stay open");      // and every experiment after this would be false
        std::abort();
    }

private:
    static bool protect(int access) {
        return std::all_of(blocks.begin(), blocks.end(), [access](auto &block) {
            return mprotect(reinterpret_cast<void *>(block.first), block.second.bytes, access) == 0;
        });
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
