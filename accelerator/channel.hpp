#pragma once

#include <semaphore.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace kumiki::accelerator {

/// The room of a client in the memory that it shares with the server, in doubles.
struct Room {
    std::uint64_t left;   ///< of the left operand
    std::uint64_t right;  ///< of the right operands together
    std::uint64_t part;   ///< of the right operand of one request
    std::uint64_t result; ///< of a result
};

/// A product: result = left part x right part. All three lie by rows without gaps.
struct Request {
    std::uint64_t version = 0;   ///< of the left operand: it is brought to the device when it changes
    std::uint64_t left_rows = 0; ///< of the whole left operand
    std::uint64_t first_row = 0; ///< of the part of the left operand
    std::uint64_t right = 0;     ///< where the right operand begins
    std::uint64_t rows = 0, columns = 0, depth = 0;
};

/// What a client and the server share, in front of the operands and results. Request r is in `requests[r % slots]`, and
/// its result in the place of that number; a client uses a slot again only when it has got the result. The semaphores
/// order memory: what is written before a post is seen after the wait for it.
struct Channel {
    static constexpr std::size_t slots = 4;

    Room room;
    sem_t asked;                   ///< the number of requests that the server has not taken
    std::array<sem_t, slots> done; ///< 1 when the result is there, or the failure
    std::array<Request, slots> requests;
    std::atomic<bool> failed;      ///< `failure` is set, and nothing more will be computed
    std::array<char, 512> failure; ///< a sentence

    /// The whole in bytes; the matrices begin at pages of their own.
    static constexpr std::size_t page = 4096;
    static std::size_t rounded(std::uint64_t elements) { return (elements * sizeof(double) + page - 1) / page * page; }
    static std::size_t bytes(const Room& room) {
        return rounded(sizeof(Channel) / sizeof(double) + 1) + rounded(room.left) + rounded(room.right) +
               slots * rounded(room.result);
    }
    double* left() { return at(rounded(sizeof(Channel) / sizeof(double) + 1)); }
    double* right() { return left() + rounded(room.left) / sizeof(double); }
    double* result(std::size_t slot) {
        return right() + (rounded(room.right) + slot * rounded(room.result)) / sizeof(double);
    }

private:
    double* at(std::size_t offset) { return reinterpret_cast<double*>(reinterpret_cast<std::byte*>(this) + offset); }
};

/// How often one that waits for the other process looks whether that is still there, in milliseconds.
inline constexpr long look_every = 50;

/// Waits for a semaphore; returns false when look_every has passed.
bool wait_for_a_while(sem_t& semaphore);

} // namespace kumiki::accelerator
