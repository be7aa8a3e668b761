// A stand-in for the libraries of a vendor: its runtime, its BLAS, its solver and its compiler, with streams that are
// threads, so that work is done after the call and results that nobody waited for are wrong. Compiled with the names of
// one vendor:
//   RUNTIME(Malloc)   -> cudaMalloc or hipMalloc
//   PLAIN             the number of "not transposed"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <functional>
#include <malloc.h>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <sys/file.h>
#include <thread>

#ifdef STAND_IN_FOR_HIP
#define RUNTIME(name) hip##name
#define CREATE_HANDLE rocblas_create_handle
#define DESTROY_HANDLE rocblas_destroy_handle
#define SET_STREAM rocblas_set_stream
#define DGEMM rocblas_dgemm
#define DGEAM rocblas_dgeam
#define SOLVER(name) hipsolverDn##name
#define COMPILER(name) hiprtc##name
#define CODE hiprtcGetCode
#define CODE_SIZE hiprtcGetCodeSize
#define MODULE(name) hipModule##name
#define LAUNCH hipModuleLaunchKernel
#define PLAIN 111
#define TRANSPOSED 112
#else
#define RUNTIME(name) cuda##name
#define CREATE_HANDLE cublasCreate_v2
#define DESTROY_HANDLE cublasDestroy_v2
#define SET_STREAM cublasSetStream_v2
#define DGEMM cublasDgemm_v2
#define DGEAM cublasDgeam
#define SOLVER(name) cusolverDn##name
#define COMPILER(name) nvrtc##name
#define CODE nvrtcGetPTX
#define CODE_SIZE nvrtcGetPTXSize
#define MODULE(name) cuModule##name
#define LAUNCH cuLaunchKernel
#define PLAIN 0
#define TRANSPOSED 1
#endif
#define FOR_CALLERS extern "C" __attribute__((visibility("default")))

namespace {

constexpr int good = 0, bad_value = 1, no_memory = 2, in_use = 46, no_device = 101, already_locked = 712,
              not_locked = 713, lost = 719;
constexpr std::size_t memory_bytes = std::size_t{1} << 30;
std::atomic<std::size_t> used_bytes{0};

struct Event {
    std::mutex mutex;
    std::condition_variable changed;
    bool due = false; ///< recorded, and not yet come

    void wait() {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return !due; });
    }
    void set(bool value) {
        const std::lock_guard lock(mutex);
        due = value;
        changed.notify_all();
    }
};

/// Work that names an event may be done after its owner has destroyed it.
using SharedEvent = std::shared_ptr<Event>;

class Stream {
public:
    void add(std::function<void()> work) {
        const std::lock_guard lock(mutex_);
        queue_.push_back(std::move(work));
        changed_.notify_one();
    }
    void finish() {
        Event event;
        event.due = true;
        add([&] { event.set(false); });
        event.wait();
    }

private:
    void serve(const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, stop, [&] { return !queue_.empty(); });
            if (queue_.empty()) return;
            const std::function<void()> work = std::move(queue_.front());
            queue_.pop_front();
            lock.unlock();
            std::this_thread::sleep_for(std::chrono::microseconds(200)); // after the call, and not by chance before
            work();
            lock.lock();
        }
    }

    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<std::function<void()>> queue_;
    std::jthread thread_{[this](const std::stop_token& stop) { serve(stop); }};
};

struct Handle {
    Stream* stream = nullptr;
};

/// Memory of the caller is locked by whole pages, and no page twice.
class PageLocks {
public:
    int add(void* memory, std::size_t bytes) {
        const Page first = page_of(memory), end = page_of(static_cast<char*>(memory) + bytes - 1) + 1;
        const std::lock_guard lock(mutex_);
        for (const auto& [other, other_end] : ends_)
            if (first < other_end && other < end) return already_locked;
        ends_[first] = end;
        return good;
    }
    int remove(void* memory) {
        const std::lock_guard lock(mutex_);
        return ends_.erase(page_of(memory)) == 1 ? good : not_locked;
    }

private:
    using Page = std::uintptr_t;
    static Page page_of(const void* memory) { return reinterpret_cast<Page>(memory) / 4096; }

    std::mutex mutex_;
    std::map<Page, Page> ends_; ///< behind those that begin there
} locks;

/// Each thread must say which device it means.
thread_local bool selected = false;

/// Whether another process has the device, where it serves one at a time: the one that has locked this file.
bool others_have_it() {
    const char* const file = std::getenv("TEST_STAND_IN_EXCLUSIVE");
    static const bool locked =
        file != nullptr && flock(open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600), LOCK_EX | LOCK_NB) != 0;
    return locked;
}

/// After an error of this kind the vendor's libraries answer every call of the process with it.
std::atomic<bool> is_lost{false};

/// Whether this product, of those of the process, is the one at which the device is lost.
bool loses_it() {
    static const char* const number = std::getenv("TEST_STAND_IN_LOST_AT");
    static std::atomic<int> products{0};
    return number != nullptr && ++products == std::atoi(number);
}

int with_device(const std::function<int()>& work) { return is_lost ? lost : selected ? work() : no_device; }

} // namespace

FOR_CALLERS const char* RUNTIME(GetErrorString)(int status) {
    return status == no_memory ? "out of memory" : status == no_device ? "invalid device" : "invalid value";
}
FOR_CALLERS int RUNTIME(GetDeviceCount)(int* count) {
    *count = 1;
    return good;
}
FOR_CALLERS int RUNTIME(SetDevice)(int index) {
    if (is_lost) return lost;
    if (others_have_it()) return in_use;
    selected = index == 0;
    return selected ? good : no_device;
}
FOR_CALLERS int RUNTIME(DeviceGetPCIBusId)(char* text, int length, int) {
    std::strncpy(text, "0000:00:00.0", static_cast<std::size_t>(length));
    return good;
}
FOR_CALLERS int RUNTIME(MemGetInfo)(std::size_t* free_bytes, std::size_t* all) {
    *all = memory_bytes;
    *free_bytes = memory_bytes - used_bytes;
    return good;
}
FOR_CALLERS int RUNTIME(Malloc)(void** address, std::size_t bytes) {
    return with_device([&] {
        *address = std::malloc(bytes);
        used_bytes += malloc_usable_size(*address);
        return *address != nullptr ? good : no_memory;
    });
}
FOR_CALLERS int RUNTIME(Free)(void* address) {
    used_bytes -= malloc_usable_size(address);
    std::free(address);
    return good;
}
FOR_CALLERS int RUNTIME(HostRegister)(void* memory, std::size_t bytes, unsigned) { return locks.add(memory, bytes); }
FOR_CALLERS int RUNTIME(HostUnregister)(void* memory) { return locks.remove(memory); }
FOR_CALLERS int RUNTIME(DeviceGetStreamPriorityRange)(int* least, int* greatest) {
    *least = 0;
    *greatest = -5;
    return good;
}
FOR_CALLERS int RUNTIME(StreamCreateWithPriority)(void** stream, unsigned flags, int priority) {
    return with_device([&] {
        *stream = new Stream;
        return flags == 1 && (priority == 0 || priority == -5) ? good : bad_value;
    });
}
FOR_CALLERS int RUNTIME(StreamDestroy)(void* stream) {
    delete static_cast<Stream*>(stream);
    return good;
}
FOR_CALLERS int RUNTIME(StreamSynchronize)(void* stream) {
    static_cast<Stream*>(stream)->finish();
    return good;
}
FOR_CALLERS int RUNTIME(Memcpy2DAsync)(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                                       std::size_t width, std::size_t height, int kind, void* stream) {
    if (to_pitch < width || from_pitch < width || kind < 1 || kind > 3) return bad_value;
    return with_device([&] {
        static_cast<Stream*>(stream)->add([=] {
            for (std::size_t row = 0; row < height; ++row)
                std::memcpy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch,
                            width);
        });
        return good;
    });
}
FOR_CALLERS int RUNTIME(EventCreateWithFlags)(void** event, unsigned flags) {
    return with_device([&] {
        *event = new SharedEvent(std::make_shared<Event>());
        return flags == 2 ? good : bad_value;
    });
}
FOR_CALLERS int RUNTIME(EventDestroy)(void* event) {
    delete static_cast<SharedEvent*>(event);
    return good;
}
FOR_CALLERS int RUNTIME(EventRecord)(void* event, void* stream) {
    const SharedEvent shared = *static_cast<SharedEvent*>(event);
    shared->set(true);
    static_cast<Stream*>(stream)->add([shared] { shared->set(false); });
    return good;
}
FOR_CALLERS int RUNTIME(EventSynchronize)(void* event) {
    (*static_cast<SharedEvent*>(event))->wait();
    return good;
}
FOR_CALLERS int RUNTIME(StreamWaitEvent)(void* stream, void* event, unsigned) {
    const SharedEvent shared = *static_cast<SharedEvent*>(event);
    static_cast<Stream*>(stream)->add([shared] { shared->wait(); });
    return good;
}

FOR_CALLERS int CREATE_HANDLE(void** handle) {
    return with_device([&] {
        *handle = new Handle;
        return good;
    });
}
FOR_CALLERS int DESTROY_HANDLE(void* handle) {
    delete static_cast<Handle*>(handle);
    return good;
}
FOR_CALLERS int SET_STREAM(void* handle, void* stream) {
    static_cast<Handle*>(handle)->stream = static_cast<Stream*>(stream);
    return good;
}
FOR_CALLERS int DGEMM(void* handle, int left, int right, int rows, int columns, int depth, const double* factor,
                      const double* a, int a_lead, const double* b, int b_lead, const double* kept, double* c,
                      int c_lead) {
    if (left != PLAIN || right != PLAIN || a_lead < rows || b_lead < depth || c_lead < rows) return bad_value;
    if (loses_it()) is_lost = true;
    const double alpha = *factor, beta = *kept; // they belong to the caller
    return with_device([&] {
        static_cast<Handle*>(handle)->stream->add([=] {
            for (int j = 0; j < columns; ++j)
                for (int i = 0; i < rows; ++i) {
                    double sum = 0;
                    for (int k = 0; k < depth; ++k) sum += a[i + k * a_lead] * b[k + j * b_lead];
                    double& element = c[i + j * c_lead];
                    element = alpha * sum + (beta == 0 ? 0 : beta * element);
                }
        });
        return good;
    });
}
FOR_CALLERS int DGEAM(void* handle, int left, int right, int rows, int columns, const double* factor, const double* a,
                      int a_lead, const double* kept, const double* b, int b_lead, double* c, int c_lead) {
    if (left != TRANSPOSED || right != PLAIN || a_lead < columns || b_lead < rows || c_lead < rows) return bad_value;
    const double alpha = *factor, beta = *kept;
    return with_device([&] {
        static_cast<Handle*>(handle)->stream->add([=] {
            for (int j = 0; j < columns; ++j)
                for (int i = 0; i < rows; ++i)
                    c[i + j * c_lead] = alpha * a[j + i * a_lead] + (beta == 0 ? 0 : beta * b[i + j * b_lead]);
        });
        return good;
    });
}

FOR_CALLERS int SOLVER(Create)(void** handle) { return CREATE_HANDLE(handle); }
FOR_CALLERS int SOLVER(Destroy)(void* handle) { return DESTROY_HANDLE(handle); }
FOR_CALLERS int SOLVER(SetStream)(void* handle, void* stream) { return SET_STREAM(handle, stream); }
FOR_CALLERS int SOLVER(Dgetrf_bufferSize)(void*, int rows, int columns, double*, int lead, int* room) {
    *room = columns;
    return lead < rows ? bad_value : good;
}
FOR_CALLERS int SOLVER(Dgetrf)(void* handle, int rows, int columns, double* a, int lead, double* work, int* pivots,
                               int* info) {
    if (lead < rows || columns > rows || work == nullptr) return bad_value;
    return with_device([&] {
        static_cast<Handle*>(handle)->stream->add([=] {
            *info = 0;
            for (int k = 0; k < columns; ++k) {
                double* const column = a + k * lead;
                const auto smaller = [](double x, double y) { return std::abs(x) < std::abs(y); };
                const int chosen = static_cast<int>(std::max_element(column + k, column + rows, smaller) - column);
                pivots[k] = chosen + 1;
                for (int j = 0; j < columns; ++j) std::swap(a[k + j * lead], a[chosen + j * lead]);
                if (column[k] == 0) {
                    if (*info == 0) *info = k + 1;
                    continue;
                }
                for (int i = k + 1; i < rows; ++i) column[i] /= column[k];
                for (int j = k + 1; j < columns; ++j)
                    for (int i = k + 1; i < rows; ++i) a[i + j * lead] -= column[i] * a[k + j * lead];
            }
        });
        return good;
    });
}

// The compiler knows one kernel: accelerator/row_kernel.cpp's. Its code is its source.
FOR_CALLERS int COMPILER(CreateProgram)(void** program, const char* source, const char*, int, const char* const*,
                                        const char* const*) {
    *program = new std::string(source);
    return good;
}
FOR_CALLERS int COMPILER(CompileProgram)(void* program, int, const char* const*) {
    return static_cast<std::string*>(program)->find("__global__ void copy_rows(") != std::string::npos ? good
                                                                                                       : bad_value;
}
FOR_CALLERS int CODE_SIZE(void* program, std::size_t* size) {
    *size = static_cast<std::string*>(program)->size() + 1;
    return good;
}
FOR_CALLERS int CODE(void* program, char* code) {
    std::strcpy(code, static_cast<std::string*>(program)->c_str());
    return good;
}
FOR_CALLERS int COMPILER(DestroyProgram)(void** program) {
    delete static_cast<std::string*>(*program);
    return good;
}
FOR_CALLERS int MODULE(LoadData)(void** module, const void* code) {
    static char loaded;
    *module = &loaded;
    return std::strstr(static_cast<const char*>(code), "copy_rows") != nullptr ? good : bad_value;
}
FOR_CALLERS int MODULE(GetFunction)(void** kernel, void* module, const char* name) {
    *kernel = module;
    return std::strcmp(name, "copy_rows") == 0 ? good : bad_value;
}
FOR_CALLERS int LAUNCH(void*, unsigned width, unsigned rows, unsigned depth, unsigned threads, unsigned, unsigned,
                       unsigned, void* stream, void** parameters, void**) {
    struct Rows {
        unsigned from[480], to[480];
    };
    if (width == 0 || depth != 1 || threads > 1024 || rows == 0 || rows > 480) return bad_value;
    const auto from = *static_cast<const double**>(parameters[0]);
    const auto from_lead = *static_cast<unsigned long long*>(parameters[1]);
    const auto to = *static_cast<double**>(parameters[2]);
    const auto to_lead = *static_cast<unsigned long long*>(parameters[3]);
    const auto columns = *static_cast<unsigned long long*>(parameters[4]);
    const auto numbers = std::make_shared<Rows>(*static_cast<Rows*>(parameters[5])); // as they are now
    return with_device([&] {
        static_cast<Stream*>(stream)->add([=] {
            for (unsigned row = 0; row < rows; ++row)
                std::copy_n(from + numbers->from[row] * from_lead, columns, to + numbers->to[row] * to_lead);
        });
        return good;
    });
}
