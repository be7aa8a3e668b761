#include <algorithm>
#include <cstring>
#include <string>

#include "openmp/affinity_text.hpp"
#include "openmp/entry/entry.hpp"
#include "openmp/process.hpp"
#include "platform/thread.hpp"

/// Entry points that describe where a thread runs, by a format (OMP_AFFINITY_FORMAT).
using namespace kumiki::openmp;

namespace {

std::size_t copy_out(const std::string& text, char* to, std::size_t size) {
    if (size != 0) {
        const std::size_t length = std::min(text.size(), size - 1);
        std::memcpy(to, text.data(), length);
        to[length] = '\0';
    }
    return text.size();
}

/// A text of Fortran: its length is given, and it ends with blanks.
std::string_view trimmed(const char* text, std::size_t length) {
    std::string_view view(text, length);
    while (!view.empty() && view.back() == ' ') view.remove_suffix(1);
    return view;
}
void copy_padded(const std::string& text, char* to, std::size_t size) {
    const std::size_t length = std::min(text.size(), size);
    std::memcpy(to, text.data(), length);
    std::memset(to + length, ' ', size - length);
}

} // namespace

KUMIKI_ENTRY void omp_set_affinity_format(const char* format) { process().affinity_format() = format; }
KUMIKI_ENTRY void omp_set_affinity_format_(const char* format, std::size_t length) {
    process().affinity_format() = trimmed(format, length);
}
KUMIKI_ENTRY std::size_t omp_get_affinity_format(char* to, std::size_t size) {
    return copy_out(process().affinity_format(), to, size);
}
KUMIKI_ENTRY std::int32_t omp_get_affinity_format_(char* to, std::size_t size) {
    copy_padded(process().affinity_format(), to, size);
    return static_cast<std::int32_t>(process().affinity_format().size());
}
KUMIKI_ENTRY void omp_display_affinity(const char* format) {
    print_line(described(format != nullptr ? format : "", self()));
}
KUMIKI_ENTRY void omp_display_affinity_(const char* format, std::size_t length) {
    print_line(described(trimmed(format, length), self()));
}
KUMIKI_ENTRY std::size_t omp_capture_affinity(char* to, std::size_t size, const char* format) {
    return copy_out(described(format != nullptr ? format : "", self()), to, size);
}
KUMIKI_ENTRY std::int32_t omp_capture_affinity_(char* to, const char* format, std::size_t size, std::size_t length) {
    const std::string text = described(trimmed(format, length), self());
    copy_padded(text, to, size);
    return static_cast<std::int32_t>(text.size());
}

/// Lets the calling thread run wherever the process might when it began; 0, or -1 if the system refuses that. oneTBB
/// looks for it in every program, and calls it if it is there.
KUMIKI_ENTRY int kmp_set_thread_affinity_mask_initial() {
    return kumiki::platform::bind_to_cpus(process().environment().cpus) ? 0 : -1;
}
