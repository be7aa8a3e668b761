#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

#include "bench/common/bare_barrier.hpp"

namespace kumiki::bench {

/// How the memory of a window is created.
enum class WindowKind { allocate, allocate_shared };

constexpr const char* name(WindowKind kind) {
    return kind == WindowKind::allocate ? "MPI_Win_allocate" : "MPI_Win_allocate_shared";
}

/// Memory into which the other rank may put, open for passive access during its whole life. Creating it is collective.
class MpiWindow {
public:
    /// Whole pages: some MPIs place the ranks' windows directly after each other, and the words in them must be
    /// aligned.
    MpiWindow(WindowKind kind, std::size_t at_least) : bytes_((at_least + page - 1) / page * page) {
        const auto create = kind == WindowKind::allocate ? MPI_Win_allocate : MPI_Win_allocate_shared;
        create(static_cast<MPI_Aint>(bytes_), 1, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&own_), &window_);
        MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
    }
    MpiWindow(const MpiWindow&) = delete;
    MpiWindow& operator=(const MpiWindow&) = delete;
    ~MpiWindow() {
        MPI_Win_unlock_all(window_);
        MPI_Win_free(&window_);
    }

    std::span<std::byte> own() const { return {own_, bytes_}; }

    void put(int rank, std::size_t offset, const void* source, std::size_t bytes) const {
        MPI_Put(source, static_cast<int>(bytes), MPI_BYTE, rank, static_cast<MPI_Aint>(offset), static_cast<int>(bytes),
                MPI_BYTE, window_);
    }
    void flush(int rank) const { MPI_Win_flush(rank, window_); }
    void put_word(int rank, std::size_t offset, std::uint64_t word) const {
        MPI_Put(&word, 1, MPI_UINT64_T, rank, static_cast<MPI_Aint>(offset), 1, MPI_UINT64_T, window_);
        flush(rank);
    }

    /// Polls this rank's word at `offset` until it is `value`. MPI_Win_sync makes memory consistent. It does not make
    /// progress in a library that moves puts by messages, as MPICH does for some windows; MPI_Iprobe does, but only now
    /// and then, because it is slow.
    void await_word(std::size_t offset, std::uint64_t value) const {
        constexpr unsigned looks_per_probe = 16;
        auto& word = *reinterpret_cast<std::uint64_t*>(own_ + offset);
        for (unsigned looks = 1; Word(word).load(std::memory_order_acquire) != value; ++looks) {
            MPI_Win_sync(window_);
            int found = 0;
            if (looks % looks_per_probe == 0)
                MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
        }
    }

private:
    static constexpr std::size_t page = 4096;

    std::byte* own_ = nullptr;
    std::size_t bytes_;
    MPI_Win window_ = MPI_WIN_NULL;
};

} // namespace kumiki::bench
