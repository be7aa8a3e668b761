#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "bench/common/bare_barrier.hpp"
#include "kumiki/signal.hpp"

namespace kumiki::bench {

/// The words of the latency measurements; every rank has several in a region. A batch of round trips uses all of
/// them, one of additions the next one.
///
/// The speed of a line depends on where in the processor its address is managed. A single line would show one such
/// place, by chance; batches over many lines show the typical speed, and differ less from each other.
struct Mailbox {
    /// Data and the signal that announces them travel in one line.
    struct alignas(line) Adjacent {
        std::uint64_t data;
        Signal signal;
    } adjacent;

    struct Separate {
        alignas(line) std::uint64_t data;
        alignas(line) Signal signal;
    } separate;

    /// The signal is the message.
    struct alignas(line) {
        Signal signal;
    } lone;

    /// The word that an active message's handler raises.
    struct alignas(line) {
        Signal signal;
    } handled;

    /// The signals that announce a batch of data and answer it.
    struct alignas(line) {
        Signal announced;
        alignas(line) Signal answered;
    } batch;

    /// Words that are loaded and stored directly, to measure the bare machine.
    struct {
        alignas(line) std::uint64_t one;
        struct alignas(line) {
            std::uint64_t data, flag;
        } two;
        alignas(line) std::uint64_t announced;
        alignas(line) std::uint64_t answered;
    } bare;

    alignas(line) std::uint64_t counter;
};

/// Calls round(box) `count` times in all: about equally often for every box, and for each box in succession.
template <class Box, class Round>
void over_all(std::span<Box> boxes, std::uint64_t count, Round round) {
    std::uint64_t done = 0;
    for (std::size_t box = 0; box < boxes.size(); ++box)
        for (const std::uint64_t until = count * (box + 1) / boxes.size(); done < until; ++done) round(boxes[box]);
}

/// A link of the chain that get and fetch-add walk along, alone in its line.
struct alignas(line) Link {
    std::uint64_t word;
};

} // namespace kumiki::bench
