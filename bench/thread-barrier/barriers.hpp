#pragma once

#include <pthread.h>

#include <barrier>
#include <cstddef>
#include <vector>

#include "bench/common/bare_barrier.hpp"

namespace kumiki::bench {

/// The paper's barrier (COMPaS, Fig. 2): every slave raises its slot; the master polls one slot after another and then
/// raises the wake-up flag. Epochs instead of 0 and 1 make it reusable. It only spins.
class CentralBarrier {
public:
    explicit CentralBarrier(int threads) : slots_(static_cast<std::size_t>(threads)), epochs_(slots_.size()) {}

    void wait(int thread) {
        const auto own = static_cast<std::size_t>(thread);
        const std::uint64_t epoch = ++epochs_[own].word;
        if (own == 0) {
            for (std::size_t slave = 1; slave < slots_.size(); ++slave) await(slots_[slave], epoch);
            Word(wake_up_.word).store(epoch, std::memory_order_release);
        } else {
            Word(slots_[own].word).store(epoch, std::memory_order_release);
            await(wake_up_, epoch);
        }
    }

private:
    static void await(Flag& flag, std::uint64_t epoch) {
        while (Word(flag.word).load(std::memory_order_acquire) != epoch) {}
    }

    std::vector<Flag> slots_;
    std::vector<Flag> epochs_; ///< each thread's own number of barriers
    Flag wake_up_;
};

/// Bare flags between threads.
class BoundBarrier {
public:
    explicit BoundBarrier(int threads) {
        const int steps = dissemination_steps(threads);
        flags_.resize(static_cast<std::size_t>(threads * steps));
        for (int thread = 0; thread < threads; ++thread) {
            std::vector<BareBarrier::Step> way;
            for (int step = 0; step < steps; ++step) {
                const int other = (thread + (1 << step)) % threads;
                way.push_back({&flag(other, step, steps), &flag(thread, step, steps)});
            }
            parties_.push_back({BareBarrier(std::move(way))});
        }
    }

    void wait(int thread) { parties_[static_cast<std::size_t>(thread)].barrier.wait(); }

private:
    struct alignas(line) Party {
        BareBarrier barrier;
    };

    std::uint64_t& flag(int thread, int step, int steps) {
        return flags_[static_cast<std::size_t>(thread * steps + step)].word;
    }

    std::vector<Flag> flags_;
    std::vector<Party> parties_;
};

class PthreadBarrier {
public:
    explicit PthreadBarrier(int threads) { pthread_barrier_init(&barrier_, nullptr, static_cast<unsigned>(threads)); }
    PthreadBarrier(const PthreadBarrier&) = delete;
    PthreadBarrier& operator=(const PthreadBarrier&) = delete;
    ~PthreadBarrier() { pthread_barrier_destroy(&barrier_); }

    void wait(int) { pthread_barrier_wait(&barrier_); }

private:
    pthread_barrier_t barrier_;
};

class StandardBarrier {
public:
    explicit StandardBarrier(int threads) : barrier_(threads) {}

    void wait(int) { barrier_.arrive_and_wait(); }

private:
    std::barrier<> barrier_;
};

} // namespace kumiki::bench
