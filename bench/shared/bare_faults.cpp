#include "bench/shared/bare_faults.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "bench/shared/scattered.hpp"
#include "measure/sampling.hpp"

namespace kumiki::bench {
namespace {

// Newer than the headers of some systems: write protection of shared memory (Linux 5.19), and a page that is mapped
// write-protected at once (Linux 6.4).
constexpr std::uint64_t protects_shared_memory = std::uint64_t{1} << 12;
constexpr std::uint64_t continue_write_protected = std::uint64_t{1} << 1;

/// The faults that are measured at present: a signal handler has no other way to know them.
std::atomic<BareFaults*> measured{nullptr};

template <class T>
T need(T result, const char* operation) {
    if (result == static_cast<T>(-1))
        throw std::runtime_error(std::string("bare page faults cannot be measured: ") + operation + ": " +
                                 std::strerror(errno));
    return result;
}

std::byte* mapped(int file, std::size_t bytes) {
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) need(-1, "mmap");
    return static_cast<std::byte*>(memory);
}

} // namespace

BareFaults::BareFaults(std::string mechanism, std::size_t page_bytes, std::size_t pages)
    : mechanism_(std::move(mechanism)), page_bytes_(page_bytes), pages_(pages), source_(page_bytes * pages) {
    const std::size_t bytes = source_.size();
    file_ = need(static_cast<int>(memfd_create("kumiki-bare-faults", MFD_CLOEXEC)), "memfd_create");
    need(ftruncate(file_, static_cast<off_t>(bytes)), "ftruncate");
    frames_ = mapped(file_, bytes);
    view_ = mapped(file_, bytes);
    std::fill_n(frames_, bytes, std::byte{0}); // the file has all its pages
    if (by_userfaultfd()) register_view();
}

BareFaults::~BareFaults() {
    if (faults_ >= 0) close(faults_);
    if (view_ != nullptr) munmap(view_, source_.size());
    if (frames_ != nullptr) munmap(frames_, source_.size());
    if (file_ >= 0) close(file_);
}

void BareFaults::register_view() {
    faults_ = need(static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY)), "userfaultfd");
    uffdio_api wanted{};
    wanted.api = UFFD_API;
    wanted.features =
        UFFD_FEATURE_SIGBUS | UFFD_FEATURE_MINOR_SHMEM | UFFD_FEATURE_PAGEFAULT_FLAG_WP | protects_shared_memory;
    need(ioctl(faults_, UFFDIO_API, &wanted), "UFFDIO_API");
    uffdio_register request{};
    request.range = {reinterpret_cast<std::uintptr_t>(view_), source_.size()};
    request.mode = UFFDIO_REGISTER_MODE_MINOR | UFFDIO_REGISTER_MODE_WP;
    need(ioctl(faults_, UFFDIO_REGISTER, &request), "UFFDIO_REGISTER");
}

void BareFaults::take_away() {
    if (by_userfaultfd()) need(madvise(view_, source_.size(), MADV_DONTNEED), "madvise");
    else need(mprotect(view_, source_.size(), PROT_NONE), "mprotect");
}

/// Runs in a signal handler: it calls only system calls and memcpy.
bool BareFaults::handle(const void* address) {
    const auto* const at = static_cast<const std::byte*>(address);
    if (at < view_ || at >= view_ + source_.size()) return false;
    const std::size_t offset = static_cast<std::size_t>(at - view_) / page_bytes_ * page_bytes_;
    std::memcpy(frames_ + offset, source_.data() + offset, page_bytes_);
    if (!by_userfaultfd()) return mprotect(view_ + offset, page_bytes_, PROT_READ) == 0;
    uffdio_continue request{};
    request.range = {reinterpret_cast<std::uintptr_t>(view_ + offset), page_bytes_};
    request.mode = continue_write_protected;
    return ioctl(faults_, UFFDIO_CONTINUE, &request) == 0;
}

void BareFaults::on_signal(int, siginfo_t* info, void*) {
    if (!measured.load()->handle(info->si_addr)) std::abort(); // the measurement itself is wrong
}

std::pair<double, bool> BareFaults::read_all() {
    ++generation_;
    std::ranges::fill(source_, std::byte{generation_});
    take_away();
    const int signal = by_userfaultfd() ? SIGBUS : SIGSEGV;
    struct sigaction ours{}, before{};
    ours.sa_sigaction = on_signal;
    ours.sa_flags = SA_SIGINFO;
    measured.store(this);
    need(sigaction(signal, &ours, &before), "sigaction");
    bool right = true;
    const auto start = measure::Clock::now();
    for (std::size_t turn = 0; turn < pages_; ++turn)
        right =
            static_cast<volatile std::byte&>(view_[scattered(turn, pages_) * page_bytes_]) == std::byte{generation_} &&
            right;
    const double seconds = measure::seconds_since(start);
    need(sigaction(signal, &before, nullptr), "sigaction");
    return {seconds, right};
}

} // namespace kumiki::bench
