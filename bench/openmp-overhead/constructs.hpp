#pragma once

#include <omp.h>

#include <cstdint>

namespace kumiki::bench {

/// A construct around a body. `run(count, threads, body)` executes it; times() says how often all threads together then
/// execute the body, and work() how many bodies one after the other the construct takes at least, because each thread
/// has that many, or because threads take turns: the time of so many bodies is not the construct's own.
///
/// `count` is a multiple of `threads`. An exclusive construct has no two bodies at the same time.
struct EachThread {
    static constexpr bool exclusive = false;
    static std::uint64_t times(std::uint64_t count, int threads) { return count * static_cast<unsigned>(threads); }
    static std::uint64_t work(std::uint64_t count, int) { return count; }
};
struct OneAtATime {
    static constexpr bool exclusive = true;
    static std::uint64_t times(std::uint64_t count, int) { return count; }
    static std::uint64_t work(std::uint64_t count, int) { return count; }
};

struct Parallel : EachThread {
    static constexpr const char* name = "parallel";
    template <class Body>
    static void run(std::uint64_t count, int, Body body) {
        for (std::uint64_t i = 0; i < count; ++i) {
#pragma omp parallel
            body();
        }
    }
};

struct Reduction : EachThread {
    static constexpr const char* name = "reduction";
    template <class Body>
    static void run(std::uint64_t count, int, Body body) {
        long sum = 0;
        for (std::uint64_t i = 0; i < count; ++i) {
#pragma omp parallel reduction(+ : sum)
            {
                body();
                sum += 1;
            }
        }
        __asm__ __volatile__("" ::"r"(sum));
    }
};

struct For : EachThread {
    static constexpr const char* name = "for";
    template <class Body>
    static void run(std::uint64_t count, int threads, Body body) {
#pragma omp parallel
        for (std::uint64_t i = 0; i < count; ++i) {
#pragma omp for
            for (int part = 0; part < threads; ++part) body();
        }
    }
};

struct Barrier : EachThread {
    static constexpr const char* name = "barrier";
    template <class Body>
    static void run(std::uint64_t count, int, Body body) {
#pragma omp parallel
        for (std::uint64_t i = 0; i < count; ++i) {
            body();
#pragma omp barrier
        }
    }
};

struct Single : OneAtATime {
    static constexpr const char* name = "single";
    template <class Body>
    static void run(std::uint64_t count, int, Body body) {
#pragma omp parallel
        for (std::uint64_t i = 0; i < count; ++i) {
#pragma omp single
            body();
        }
    }
};

struct Critical : OneAtATime {
    static constexpr const char* name = "critical";
    template <class Body>
    static void run(std::uint64_t count, int threads, Body body) {
#pragma omp parallel
        for (std::uint64_t i = 0; i < count / static_cast<unsigned>(threads); ++i) {
#pragma omp critical
            body();
        }
    }
};

struct Lock : OneAtATime {
    static constexpr const char* name = "lock";
    template <class Body>
    static void run(std::uint64_t count, int threads, Body body) {
        omp_lock_t lock;
        omp_init_lock(&lock);
#pragma omp parallel
        for (std::uint64_t i = 0; i < count / static_cast<unsigned>(threads); ++i) {
            omp_set_lock(&lock);
            body();
            omp_unset_lock(&lock);
        }
        omp_destroy_lock(&lock);
    }
};

struct Ordered : OneAtATime {
    static constexpr const char* name = "ordered";
    template <class Body>
    static void run(std::uint64_t count, int, Body body) {
#pragma omp parallel for ordered schedule(static, 1)
        for (std::uint64_t i = 0; i < count; ++i) {
#pragma omp ordered
            body();
        }
    }
};

/// Each iteration waits for the one before, most of them for one of their own thread.
struct Doacross : OneAtATime {
    static constexpr const char* name = "doacross";
    template <class Body>
    static void run(std::uint64_t count, int, Body body) {
        const auto end = static_cast<long>(count);
#pragma omp parallel for ordered(1) schedule(static)
        for (long i = 0; i < end; ++i) {
#pragma omp ordered depend(sink : i - 1)
            body();
#pragma omp ordered depend(source)
        }
    }
};

/// An update is all that this construct can contain: there is no work from which its time is counted, and the body is
/// executed, once, only if the updates do not add up.
struct Atomic {
    static constexpr const char* name = "atomic";
    static constexpr bool exclusive = false;
    static std::uint64_t times(std::uint64_t, int) { return 0; }
    static std::uint64_t work(std::uint64_t, int) { return 0; }
    template <class Body>
    static void run(std::uint64_t count, int threads, Body body) {
        double sum = 0;
#pragma omp parallel
        for (std::uint64_t i = 0; i < count / static_cast<unsigned>(threads); ++i) {
#pragma omp atomic
            sum += 1;
        }
        if (sum != static_cast<double>(count)) body();
    }
};

/// Chunks of one iteration; `count` is that of each thread's chunks.
struct Dynamic : EachThread {
    static constexpr const char* name = "dynamic";
    template <class Body>
    static void run(std::uint64_t count, int threads, Body body) {
#pragma omp parallel for schedule(dynamic, 1)
        for (std::uint64_t i = 0; i < count * static_cast<unsigned>(threads); ++i) body();
    }
};

/// One thread creates the tasks of all; `count` is that of each thread's tasks.
struct Task : EachThread {
    static constexpr const char* name = "task";
    template <class Body>
    static void run(std::uint64_t count, int threads, Body body) {
#pragma omp parallel
#pragma omp master
        for (std::uint64_t i = 0; i < count * static_cast<unsigned>(threads); ++i) {
#pragma omp task firstprivate(body)
            body();
        }
    }
};

/// Each thread creates a task and waits for it.
struct TaskWait : EachThread {
    static constexpr const char* name = "taskwait";
    template <class Body>
    static void run(std::uint64_t count, int, Body body) {
#pragma omp parallel
        for (std::uint64_t i = 0; i < count; ++i) {
#pragma omp task firstprivate(body)
            body();
#pragma omp taskwait
        }
    }
};

} // namespace kumiki::bench
