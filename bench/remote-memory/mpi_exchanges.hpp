#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "bench/remote-memory/loops.hpp"
#include "bench/remote-memory/mpi_window.hpp"
#include "bench/remote-memory/polled_words.hpp"

// MPI's ways to move data between rank 0 and rank 1 (loops.hpp).

namespace kumiki::bench {

/// MPI_Put and MPI_Win_flush of 8 bytes that the target polls.
inline std::function<bool(std::uint64_t)> put_ping_pong(int rank, const MpiWindow& window) {
    return [rank, &window, batch = std::size_t{0}, turn = std::uint64_t{0}](std::uint64_t count) mutable {
        const std::size_t turn_at = PolledWords::turn(batch++);
        for (std::uint64_t i = 0; i < count; ++i) {
            ++turn;
            if (rank == 0) window.put_word(1, turn_at, turn);
            window.await_word(turn_at, turn);
            if (rank == 1) window.put_word(0, turn_at, turn);
        }
        return true;
    };
}

/// MPI_Send and MPI_Recv of 8 bytes.
inline std::function<bool(std::uint64_t)> send_ping_pong(int rank) {
    return [rank, turn = std::uint64_t{0}](std::uint64_t count) mutable {
        bool right = true;
        for (std::uint64_t i = 0; i < count; ++i) {
            ++turn;
            std::uint64_t heard = 0;
            if (rank == 0) MPI_Send(&turn, 1, MPI_UINT64_T, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(&heard, 1, MPI_UINT64_T, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (rank == 1) MPI_Send(&turn, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD);
            right = right && heard == turn;
        }
        return right;
    };
}

/// Puts, one flush, then a word that announces them and that the target answers at once.
inline Mover put_mover(int rank, std::span<std::byte> own, const MpiWindow& window) {
    const auto move = [rank, own, &window](std::size_t bytes, std::uint64_t count, std::uint64_t batch) {
        if (rank == 0) {
            for (std::uint64_t i = 0; i < count; ++i) window.put(1, PolledWords::bytes, own.data(), bytes);
            window.flush(1);
            window.put_word(1, PolledWords::announced, batch);
            window.await_word(PolledWords::answered, batch);
        } else {
            window.await_word(PolledWords::announced, batch);
            window.put_word(0, PolledWords::answered, batch);
        }
    };
    if (rank == 0) return {own, {}, move};
    return {{}, window.own().subspan(PolledWords::bytes), move};
}

/// Messages one after another, then one that answers them.
inline Mover send_mover(int rank, std::span<std::byte> own) {
    const auto move = [rank, own](std::size_t bytes, std::uint64_t count, std::uint64_t) {
        const int size = static_cast<int>(bytes);
        for (std::uint64_t i = 0; i < count; ++i) {
            if (rank == 0) MPI_Send(own.data(), size, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            else MPI_Recv(own.data(), size, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        char answer = 0;
        if (rank == 0) MPI_Recv(&answer, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else MPI_Send(&answer, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    };
    if (rank == 0) return {own, {}, move};
    return {{}, own, move};
}

} // namespace kumiki::bench
