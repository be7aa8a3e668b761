#pragma once

#include <cstddef>
#include <cstdint>

#include "bench/common/bare_barrier.hpp"
#include "kumiki/kumiki.hpp"

namespace kumiki::bench {

/// A barrier that the ranks themselves make of point-to-point messages, in dissemination order: this is the barrier of
/// PM, with which the paper compares its own.
class ShuffleExchange {
public:
    explicit ShuffleExchange(Job& job) : job_(job), inbox_(job.allocate<Message>(most_steps)) {}

    void barrier() {
        ++epoch_;
        for (std::size_t step = 0; (std::size_t{1} << step) < static_cast<std::size_t>(job_.size()); ++step) {
            Message& message = inbox_[step];
            const int other = (job_.rank() + (1 << step)) % job_.size();
            job_.put_signal(other, &message.epoch, {&epoch_, 1}, message.arrived, epoch_);
            job_.wait(message.arrived, Comparison::at_least, epoch_);
            // The sender may already be one barrier ahead, but never behind.
            if (message.epoch < epoch_) throw Error(KUMIKI_ERROR_STATE, "a signal arrived before its message");
        }
    }

private:
    static constexpr std::size_t most_steps = 31;

    struct alignas(line) Message {
        std::uint64_t epoch;
        Signal arrived;
    };

    Job& job_;
    Region<Message> inbox_;
    std::uint64_t epoch_ = 0;
};

} // namespace kumiki::bench
