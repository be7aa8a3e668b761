// Page faults by userfaultfd.
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/descriptor.hpp"
#include "platform/memory.hpp"
#include "platform/page_faults.hpp"
#include "platform/unordered_reads.hpp"

namespace kumiki::platform {
namespace {

// Newer than the headers of some systems: write protection of shared memory (Linux 5.19), and a page that is mapped
// write-protected at once (Linux 6.4). Without the latter, another thread could write between the mapping and the
// protection.
constexpr std::uint64_t protects_shared_memory = std::uint64_t{1} << 12;
constexpr std::uint64_t continue_write_protected = std::uint64_t{1} << 1;

/// Faults arrive as signals in the thread that made them, and only those of user mode are handled, for which no
/// privilege is needed. "Minor" faults are those of pages that exist in the file but not in this mapping.
Result<Descriptor> open_descriptor() {
    Descriptor descriptor(static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY)));
    if (descriptor.get() < 0)
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    errno == EINVAL
                        ? "this kernel's userfaultfd needs privileges; Linux 6.4 or newer handles faults of user mode "
                          "without"
                        : fmt::format("this process may not use userfaultfd ({}); in a container the security profile "
                                      "must allow that system call",
                                      std::strerror(errno)));
    uffdio_api wanted{};
    wanted.api = UFFD_API;
    wanted.features = UFFD_FEATURE_SIGBUS | UFFD_FEATURE_MISSING_SHMEM | UFFD_FEATURE_MINOR_SHMEM |
                      UFFD_FEATURE_PAGEFAULT_FLAG_WP | protects_shared_memory;
    if (ioctl(descriptor.get(), UFFDIO_API, &wanted) != 0)
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("userfaultfd of this kernel does not know write protection of shared memory ({}); "
                                "Linux 6.4 or newer does",
                                std::strerror(errno)));
    return descriptor;
}

std::uint64_t number(const std::byte* at) { return reinterpret_cast<std::uintptr_t>(at); }

class Userfaultfd final : public PageFaults {
public:
    Userfaultfd(Descriptor descriptor, std::byte* second, std::byte* first)
        : descriptor_(std::move(descriptor)), second_(second), first_(first) {}

    Result<> guard(std::size_t offset, std::size_t bytes) override {
        return enroll(offset, bytes,
                      UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_MINOR | UFFDIO_REGISTER_MODE_WP);
    }
    Result<> watch(std::size_t offset, std::size_t bytes) override {
        return enroll(offset, bytes, UFFDIO_REGISTER_MODE_WP);
    }

    Result<> follow(std::size_t offset, std::size_t bytes) override { return guard(offset, bytes); }

    Result<> change(std::size_t offset, std::size_t bytes, PageAccess from, PageAccess to) override {
        if (to == PageAccess::none) return drop(offset, bytes);
        if (from == PageAccess::none) return map(offset, bytes, to);
        return protect(offset, bytes, to == PageAccess::read);
    }

private:
    Result<> enroll(std::size_t offset, std::size_t bytes, std::uint64_t mode) {
        uffdio_register request{};
        request.range = {number(second_ + offset), bytes};
        request.mode = mode;
        if (ioctl(descriptor_.get(), UFFDIO_REGISTER, &request) != 0) return refused("UFFDIO_REGISTER");
        return {};
    }

    Result<> map(std::size_t offset, std::size_t bytes, PageAccess to) {
        // A page that the file does not have yet cannot be mapped; reading it through the first mapping makes it.
        // Others may be writing there.
        for (std::size_t at = offset; at < offset + bytes; at += page_size()) {
            const UnorderedReads unordered;
            static_cast<void>(*const_cast<const volatile std::byte*>(first_ + at));
        }
        while (bytes > 0) {
            uffdio_continue request{};
            request.range = {number(second_ + offset), bytes};
            request.mode = to == PageAccess::read ? continue_write_protected : 0;
            if (ioctl(descriptor_.get(), UFFDIO_CONTINUE, &request) == 0) return {};
            // A page that is mapped already ends the request early, and so does a change of the address space.
            std::size_t done = request.mapped > 0 ? static_cast<std::size_t>(request.mapped) : 0;
            if (done == 0 && errno == EEXIST) done = page_size();
            if (done == 0 && errno != EAGAIN) return refused("UFFDIO_CONTINUE");
            offset += done;
            bytes -= done;
        }
        return {};
    }

    Result<> protect(std::size_t offset, std::size_t bytes, bool on) {
        uffdio_writeprotect request{};
        request.range = {number(second_ + offset), bytes};
        request.mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : 0;
        while (ioctl(descriptor_.get(), UFFDIO_WRITEPROTECT, &request) != 0)
            if (errno != EAGAIN) return refused("UFFDIO_WRITEPROTECT");
        return {};
    }

    /// Takes the pages out of the second mapping; the file keeps them.
    Result<> drop(std::size_t offset, std::size_t bytes) {
        if (madvise(second_ + offset, bytes, MADV_DONTNEED) != 0) return refused("MADV_DONTNEED");
        return {};
    }

    static Result<> refused(const char* operation) {
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("the system refuses to handle faults of a shared array ({}: {}); "
                                "KUMIKI_SHARED_FAULTS=protection does without userfaultfd",
                                operation, std::strerror(errno)));
    }

    Descriptor descriptor_;
    std::byte *second_, *first_;
};

/// Tries on one page all that the engine needs.
Result<> try_out() {
    const auto file = SharedFile::create(page_size());
    if (!file) return tl::unexpected(file.error());
    const auto first = Mapping::of(*file), second = Mapping::of(*file);
    if (!first) return tl::unexpected(first.error());
    if (!second) return tl::unexpected(second.error());
    auto descriptor = open_descriptor();
    if (!descriptor) return tl::unexpected(descriptor.error());
    Userfaultfd engine(std::move(*descriptor), second->data(), first->data());
    if (auto guarded = engine.guard(0, page_size()); !guarded) return guarded;
    return engine.change(0, page_size(), PageAccess::none, PageAccess::read);
}

} // namespace

Result<> userfaultfd_works() { return try_out(); }

Result<std::unique_ptr<PageFaults>> open_userfaultfd(const SecondMapping& second, std::byte* first) {
    auto descriptor = open_descriptor();
    if (!descriptor) return tl::unexpected(descriptor.error());
    return std::make_unique<Userfaultfd>(std::move(*descriptor), second.data(), first);
}

} // namespace kumiki::platform
