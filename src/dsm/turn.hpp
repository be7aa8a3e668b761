#pragma once

#include <atomic>
#include <cstdint>

#include "fabric/fabric.hpp"
#include "platform/thread.hpp"

/// Two locks of this room for words that may lie in memory that several processes share.
namespace kumiki::dsm {

/// One thread of a rank at a time does something that may wait for other ranks. A thread that waits for its turn makes
/// progress on the network only, because it may be inside a fault, in the middle of the program's own code.
class Turn {
public:
    Turn(fabric::Fabric& fabric, std::atomic<std::uint8_t>& word) : fabric_(fabric), word_(word) {}

    void lock() {
        if (!try_lock()) fabric_.progress().wait([this] { return try_lock(); }, fabric::Progress::Attention::network);
    }
    bool try_lock() { return word_.exchange(1, std::memory_order_acquire) == 0; }
    void unlock() {
        unlock_quietly();
        fabric_.progress().ring(fabric_.rank());
    }
    /// The thread unlocks another one after this, for which it rings.
    void unlock_quietly() { word_.store(0, std::memory_order_release); }

private:
    fabric::Fabric& fabric_;
    std::atomic<std::uint8_t>& word_;
};

/// Held by a thread of any rank of a host for a few instructions, in which it waits for nothing. Zero: not held.
class Brief {
public:
    void lock() {
        for (int attempt = 0; word_.exchange(1, std::memory_order_acquire) != 0; ++attempt)
            if (attempt % 64 == 63) platform::yield(); // perhaps the holder needs this core
            else platform::relax();
    }
    void unlock() { word_.store(0, std::memory_order_release); }

private:
    std::atomic<std::uint32_t> word_;
};

} // namespace kumiki::dsm
