#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <string_view>
#include <unordered_set>

#include "openmp/lock.hpp"
#include "openmp/settings.hpp"
#include "wait/bell.hpp"
#include "wait/patience.hpp"

namespace kumiki::openmp {

class OtherRanks;

/// What the process has once. The GOMP_ and omp_ interface has no argument that could carry it, so it is the one global
/// object of this room.
class Process {
public:
    Process();

    const Environment& environment() const { return environment_; }
    std::string& affinity_format() { return environment_.affinity_format; }
    void set_num_teams(int number) { environment_.num_teams = number; }

    /// Null: the program runs as one process.
    OtherRanks* others() const { return others_; }
    void set_others(OtherRanks& others) { others_ = &others; }

    const wait::Patience& patience() const { return patience_; }
    const wait::Patience& patience_of_crowd() const { return crowd_; }
    int processors() const { return static_cast<int>(environment_.cpus.size()); }

    wait::Bell& bell_of(const void* lock) {
        return bells_[(reinterpret_cast<std::uintptr_t>(lock) >> 2) * 0x9E3779B1U % bells_.size()];
    }

    Allocator& allocator() { return environment_.allocator; }

    Lock critical; ///< the critical construct without a name
    Lock atomic;   ///< atomic constructs for which the processor has no instruction
    /// The allocatable variables of Fortran whose memory came from an allocator and not from malloc.
    struct {
        std::mutex mutex;
        std::unordered_set<const void*> blocks;
    } allocatables;

private:
    Environment environment_;
    OtherRanks* others_ = nullptr;
    wait::Patience patience_, crowd_;
    std::array<wait::Bell, 64> bells_{};
};

/// The object is made when the library is loaded, before any code of the program runs.
extern Process the_process;
inline Process& process() { return the_process; }

/// Memory for the program, which all its processes see; std::free() takes it back. Null: there is none left.
void* program_memory(std::size_t bytes, std::size_t alignment = alignof(std::max_align_t));

/// Prints a sentence on standard error.
void say(std::string_view sentence);

/// Ends the process because the program asks for what this runtime cannot do.
[[noreturn]] void refuse(std::string_view sentence);

} // namespace kumiki::openmp
