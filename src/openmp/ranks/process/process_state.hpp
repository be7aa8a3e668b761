#pragma once

#include <atomic>
#include <cfenv>
#include <cstdint>
#include <string>
#include <sys/types.h>

#include "openmp/process.hpp"
#include "openmp/ranks/memory/heap.hpp"
#include "openmp/ranks/process/languages.hpp"

namespace kumiki::openmp {

class Ranks;

/// What threads of one process have in common without its being memory of the program: the environment, the current
/// folder, the mask of new files, the locale, options of Fortran and of OpenMP; and how floating-point numbers are
/// computed, which a thread has from the one that starts it. What the process that runs main has of it the others take
/// in when a region begins. One thread of a rank uses this, the one that leads, except for note().
class ProcessState {
public:
    enum Change : unsigned { environment = 1, folder = 2, mask = 4, locale = 8, affinity_format = 16 };

    /// In the program's heap. Only what the program has changed is valid besides the environment.
    struct Values {
        unsigned changed = 0;
        char** environment = nullptr;
        char* folder = nullptr;
        char* locale = nullptr;
        char* affinity_format = nullptr; ///< of omp_set_affinity_format()
        mode_t mask = 0;
        FortranOptions fortran;
        std::fenv_t floating_point{};
    };

    ProcessState(Ranks& ranks, Heap& heap) : ranks_(ranks), heap_(heap) {}

    /// The program has changed something in this process.
    void note(Change change) { changed_.fetch_or(change, std::memory_order_relaxed); }
    FortranOptions& fortran() { return fortran_; }

    /// At rank 0: for the next region; the same as for the last one if nothing has changed since.
    const Values* values();
    /// At other ranks.
    void take_in(const Values* values);

private:
    char** shared_environment();
    char* shared(const char* text);
    void* memory(std::size_t bytes);
    void release(Values* values);

    Ranks& ranks_;
    Heap& heap_;
    std::atomic<unsigned> changed_{0};
    unsigned ever_changed_ = 0;
    FortranOptions fortran_;
    std::string affinity_format_ = process().affinity_format(); ///< as the others know it
    Values* current_ = nullptr;                                 ///< at rank 0
    const Values* known_ = nullptr;                             ///< at others
};

} // namespace kumiki::openmp
