#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "openmp/dependences.hpp"
#include "openmp/entry/kmp.hpp"

/// Tasks as clang makes them: the runtime allocates a task in one call, the program fills it, and a second call
/// starts it.
namespace kumiki::openmp::kmp {

struct Task;
using Routine = std::int32_t (*)(std::int32_t gtid, Task* task);

/// The head of a task, which the compiler knows. Behind it lie the task's own variables, and behind these a structure
/// with the addresses of what it shares.
struct Task {
    void* shared;
    Routine routine;
    std::int32_t part; ///< of an untied task: where it goes on
    union More {
        std::int32_t priority;
        Routine destructors; ///< of the task's own variables
    };
    More destruction, priority;
};

/// What the compiler says about a task, in bits.
enum Flag : std::uint32_t { final_task = 1U << 1, has_destructors = 1U << 3, detachable = 1U << 6 };

/// What lies before a task.
struct alignas(64) Head {
    std::size_t bytes; ///< of the task with all that is behind it
    std::uint32_t flags;
    bool begun = false; ///< its body, which may then ask to be called again (untied tasks)
    bool again = false;
    Event* event = nullptr; ///< of a detached task
};

inline Head& head_of(Task* task) { return reinterpret_cast<Head*>(task)[-1]; }

Task* allocate(std::uint32_t flags, std::size_t bytes, std::size_t shared_bytes, Routine routine);
/// A copy of a task that has not begun.
Task* copy_of(Task* task);
/// Destroys the variables of the task, and frees it.
void dispose(Task* task);
/// Starts the task; `at_once`: its creator waits for its end.
void start(Task* task, bool at_once, const std::vector<Dependence>* dependences = nullptr);

/// A dependence as the compiler describes it. The address -1 stands for all memory, too.
struct DependenceEntry {
    enum Bit : std::uint8_t { in = 1, out = 2, exclusive = 4, set = 8, all_memory = 0x80 };

    std::intptr_t address;
    std::size_t length;
    std::uint8_t bits;
};

} // namespace kumiki::openmp::kmp
