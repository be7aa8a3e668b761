#include "openmp/ranks/process/descriptors.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "openmp/process.hpp"

namespace kumiki::openmp {
namespace {

constexpr auto* input_elsewhere =
    "standard input in a thread of another process than the first (it can be read outside of parallel regions, and in "
    "masked constructs)";

/// A descriptor that stands for one of another process can do nothing.
bool is_file_here(int file) {
    const int flags = fcntl(file, F_GETFL);
    return flags >= 0 && (flags & O_PATH) == 0;
}

} // namespace

int descriptors_for_each_of(int ranks) {
    constexpr rlim_t usual_limit = 1024, least = 32;
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) return static_cast<int>(least);
    const rlim_t of_each = files.rlim_max / static_cast<rlim_t>(ranks);
    return static_cast<int>(std::max(least, std::min({files.rlim_cur, of_each, usual_limit})));
}

/// A descriptor that can be neither read nor written (O_PATH) takes the place of standard input, and of all below those
/// of this rank.
void keep_descriptors_apart(int rank, int for_each) {
    rlimit files{};
    if (rank == 0 || getrlimit(RLIMIT_NOFILE, &files) != 0) return;
    const int begin = for_each * rank;
    files.rlim_cur = std::min(static_cast<rlim_t>(begin) + static_cast<rlim_t>(for_each), files.rlim_max);
    setrlimit(RLIMIT_NOFILE, &files);
    int file = open("/", O_PATH | O_CLOEXEC);
    if (file >= 0) dup2(file, STDIN_FILENO);
    while (file >= 0 && file < begin) file = fcntl(file, F_DUPFD_CLOEXEC, 0);
    if (file >= 0) close(file);
}

void refuse_other_uses() {
    process().others()->refuse(
        "a file that another process has opened, in other ways than reading, writing, moving and closing it");
    std::abort(); // it has ended the process
}

std::optional<int> other_owner(int file) {
    const OtherRanks* const others = process().others();
    if (others == nullptr || file <= STDERR_FILENO) return {};
    const int owner = file / others->descriptors_for_each();
    if (owner == others->rank() || owner >= others->ranks() || is_file_here(file)) return {};
    return owner;
}

void refuse_file_elsewhere(int file) {
    const OtherRanks* const others = process().others();
    if (others == nullptr) return;
    if (file == STDIN_FILENO && others->rank() != 0 && !is_file_here(file)) others->refuse(input_elsewhere);
    if (file >= descriptors_of_streams) refuse_other_uses();
    if (other_owner(file))
        others->refuse(fmt::format("a descriptor ({}) of a file that another process has opened, in other ways than "
                                   "reading, writing and moving it",
                                   file)
                           .c_str());
}

/// The C library has marked the stream with an error when the kernel refused to read.
void refuse_reading_input(const OtherRanks& others) {
    // The variable may lie in the program's memory, from where it would be fetched again and again.
    static std::FILE* const input = stdin;
    if (others.rank() != 0 && ferror_unlocked(input) != 0) others.refuse(input_elsewhere);
}

} // namespace kumiki::openmp
