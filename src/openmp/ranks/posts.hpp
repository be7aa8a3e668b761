#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <thread>

#include "openmp/doacross.hpp"

namespace kumiki::openmp {

/// What the threads of this rank have posted in loops with dependences, on its way to the other ranks. To tell them
/// takes several messages, which is long beside a short iteration. So a thread tells them itself only if this rank has
/// not done so for a while, and otherwise a thread of its own does, with all that has been posted meanwhile.
class Posts {
public:
    struct Posted {
        LoopWord word;
        std::uint64_t value;
    };
    using All = std::map<const std::uint64_t*, Posted>; ///< by shared word

    /// tell(posts) stores the values in the shared words, for all ranks.
    explicit Posts(std::function<void(const All&)> tell) : tell_(std::move(tell)) {}
    Posts(const Posts&) = delete;
    Posts& operator=(const Posts&) = delete;

    void add(const LoopWord& word, std::uint64_t value);
    /// Returns when all that has been added before is told.
    void tell_all();

private:
    using Clock = std::chrono::steady_clock;

    bool is_due() const { return !is_telling_ && Clock::now() >= next_; }
    bool starts_thread();
    void serve(const std::stop_token& stop);

    const std::function<void(const All&)> tell_;
    std::mutex telling_; ///< held while the others are told
    std::mutex mutex_;   ///< of what follows
    std::condition_variable_any changed_;
    All added_;
    bool is_telling_ = false;
    Clock::time_point next_{}; ///< when the others may be told again
    std::jthread thread_;      ///< started when it is needed first
};

} // namespace kumiki::openmp
