#include "openmp/ranks/memory/thread_variables.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <link.h>
#include <span>

namespace kumiki::openmp {
namespace {

const ElfW(Phdr) * segment_of(const dl_phdr_info& object) {
    const std::span segments(object.dlpi_phdr, object.dlpi_phnum);
    const auto found =
        std::ranges::find_if(segments, [](const auto& each) { return each.p_type == PT_TLS && each.p_memsz != 0; });
    return found == segments.end() ? nullptr : &*found;
}

const std::byte* base_of(const dl_phdr_info& object) {
    return reinterpret_cast<const std::byte*>(object.dlpi_addr); // NOLINT
}

/// Those of one object and of the calling thread.
struct Own {
    const std::byte *now, *initial;
    std::size_t initialized, all; ///< bytes; zeros follow what is initialized

    bool have_changed() const {
        const auto zeros = std::span(now, all).subspan(initialized);
        return std::memcmp(now, initial, initialized) != 0 ||
               std::ranges::any_of(zeros, [](std::byte each) { return each != std::byte{}; });
    }
};

/// Calls use(object) for the objects in memory.
template <class Use>
void each_object(Use use) {
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* given) {
            (*static_cast<Use*>(given))(*object);
            return 0;
        },
        &use);
}

} // namespace

ThreadVariables::ThreadVariables(const Program& program) {
    each_object([&](const dl_phdr_info& object) {
        const auto is_it = [&](const Image& image) { return image.base == base_of(object); };
        if (segment_of(object) != nullptr && std::ranges::any_of(program.images, is_it))
            objects_.push_back(base_of(object));
    });
}

/// What is compared may have to be fetched, so the dynamic linker's lock is not held then.
bool ThreadVariables::have_changed() const {
    if (objects_.empty()) return false;
    std::vector<Own> own;
    each_object([&](const dl_phdr_info& object) {
        const bool is_used = object.dlpi_tls_data != nullptr; // by this thread
        if (!is_used || std::ranges::find(objects_, base_of(object)) == objects_.end()) return;
        const ElfW(Phdr) & segment = *segment_of(object);
        own.push_back({static_cast<const std::byte*>(object.dlpi_tls_data), base_of(object) + segment.p_vaddr,
                       segment.p_filesz, segment.p_memsz});
    });
    return std::ranges::any_of(own, &Own::have_changed);
}

} // namespace kumiki::openmp
