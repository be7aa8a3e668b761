#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "collective/collectives.hpp"
#include "dsm/shared_memory.hpp"
#include "fabric/fabric.hpp"
#include "openmp/other_ranks.hpp"
#include "openmp/ranks/heap.hpp"
#include "openmp/ranks/image.hpp"
#include "openmp/ranks/stacks.hpp"
#include "openmp/ranks/words.hpp"
#include "settings/settings.hpp"

namespace kumiki::openmp {

/// The job of a program that runs as several processes. Its memory is shared by shared arrays: the variables of the
/// program, its heap, and the stacks of the thread that runs main and of the threads of its regions.
class Ranks final : public OtherRanks {
public:
    /// Joins the job, and makes the memory of the program shared. Every rank must call this before the program begins,
    /// with equal images.
    static Result<std::unique_ptr<Ranks>> join(const Settings& settings, const Image& image);

    int rank() const override { return fabric_->rank(); }
    int processors() const override { return processors_; }
    Heap& heap() { return *heap_; }
    dsm::Locks& locks() { return *locks_; }

    /// Starts the thread that runs main at rank 0, and that serves at the others.
    Result<pthread_t> start_first_thread(void* (*function)(void*), void* argument);
    /// The calling thread is that one.
    void lead() { leader_.store(pthread_self(), std::memory_order_relaxed); }
    /// At ranks other than 0: waits for the next region that all ranks run.
    ForkNotice await_fork();
    /// Leaves the job, when no region runs.
    void leave();

    bool leads() const override { return pthread_equal(leader_.load(std::memory_order_relaxed), pthread_self()) != 0; }
    bool spans(int threads) const override;
    Part part(int threads) const override;
    bool has_stack(int number) const override { return number <= stacks_->others(); }
    Result<pthread_t> start_thread(int number, void* (*function)(void*), void* argument) override;

    void fork(const ForkNotice& fork) override;
    void meet() override;

    bool claim_single(std::uint64_t number) override;
    std::uint64_t next_single() override { return words_->load(Words::single); }
    void leave_pointer(void* pointer) override {
        words_->store(Words::pointer, reinterpret_cast<std::uintptr_t>(pointer));
    }
    void* left_pointer() override { return reinterpret_cast<void*>(words_->load(Words::pointer)); }

    std::uint64_t next_iteration(std::uint64_t loop) override;
    bool take_iterations(std::uint64_t loop, std::uint64_t& begin, std::uint64_t end) override;
    void begin_turn(std::uint64_t loop, std::uint64_t begin) override;
    void end_turn(std::uint64_t loop, std::uint64_t end) override;

    void* allocate(std::size_t bytes, std::size_t alignment) override { return heap_->allocate(bytes, alignment); }

    void enter(Own lock) override { acquire(static_cast<int>(lock)); }
    void leave(Own lock) override { release(static_cast<int>(lock)); }
    void enter(std::uint32_t& word) override;
    bool try_enter(std::uint32_t& word) override;
    void leave(std::uint32_t& word) override;

    /// Locks of the shared memory, by number.
    void acquire(int lock);
    void release(int lock);
    /// Of the ordered constructs, and of the processor's atomic instructions.
    static constexpr int ordered_lock = 2, instruction_lock = 3;

    [[noreturn]] void refuse(const char* what) const override;

private:
    Ranks(std::unique_ptr<fabric::Fabric> fabric, const Settings& settings);
    Result<> compare_layouts(const Image& image);
    Result<> count_processors();
    Result<> share_memory(const Image& image);
    void exchange(ForkNotice& fork);
    std::uint64_t look(std::uint32_t index, std::uint64_t tag);
    void check(const Result<>& result) const;

    std::unique_ptr<fabric::Fabric> fabric_;
    collective::Collectives collectives_;
    dsm::SharedMemory shared_;
    std::vector<int> firsts_; ///< by rank: the threads of the ranks before; and all at the end
    int processors_ = 1;
    std::optional<Words> words_;
    std::optional<Heap> heap_;
    std::optional<Stacks> stacks_;
    dsm::Locks* locks_ = nullptr;
    std::atomic<pthread_t> leader_{};
};

} // namespace kumiki::openmp
