#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dsm/notice_log.hpp"

namespace kumiki::dsm {

/// What a rank has announced and learned since the last barrier, and what the managers of locks know of it. Not
/// thread-safe.
class History {
public:
    History(int ranks, int rank)
        : rank_(static_cast<std::uint32_t>(rank)),
          log_(std::make_unique<NoticeLog>()),
          seen_(Told::writers(static_cast<std::size_t>(ranks))),
          managers_(static_cast<std::size_t>(ranks)) {}

    std::uint32_t rank() const { return rank_; }
    /// The number of barriers so far.
    std::uint64_t epoch() const { return log_->epoch(); }

    /// The number of times that this rank has released what it has written, or taken in notices, at locks.
    std::uint64_t steps() const { return steps_; }
    void begin_step() { ++steps_; }

    /// Adds a notice of this rank.
    void announce(const Notice& notice) {
        const Told told{notice, ++seen_[rank_], rank_};
        log_->append(told);
    }
    /// Returns false if the notice is known. Otherwise it now belongs to the history, and the caller must drop the
    /// copies of its pages before any thread of this rank that this notice concerns continues.
    bool learn(const Told& told) {
        if (told.writer >= seen_.size() || told.number <= seen_[told.writer]) return false;
        seen_[told.writer] = told.number;
        log_->append(told);
        return true;
    }

    /// What this manager has not been told yet.
    std::vector<Told> news_for(int manager) {
        Manager& there = managers_[static_cast<std::size_t>(manager)];
        std::vector<Told> news;
        if (!log_->since(there.told, news)) {
            announce(Notice::everything());
            news.assign(1, {Notice::everything(), seen_[rank_], rank_});
        }
        there.told = log_->end();
        return news;
    }
    /// How much of this manager's log this rank has read.
    std::uint64_t position(int manager) const { return managers_[static_cast<std::size_t>(manager)].read; }
    /// Two threads may read the same part.
    void has_read(int manager, std::uint64_t position) {
        std::uint64_t& read = managers_[static_cast<std::size_t>(manager)].read;
        read = std::max(read, position);
    }

    /// All ranks now know all notices.
    void begin_epoch() { log_->renew(epoch() + 1); }

private:
    struct Manager {
        std::uint64_t told = 0; ///< position in this rank's log
        std::uint64_t read = 0; ///< position in the manager's log
    };

    std::uint32_t rank_;
    std::unique_ptr<NoticeLog> log_;
    std::uint64_t steps_ = 0;
    std::vector<std::uint64_t> seen_; ///< by writer: the number of its last notice that is known
    std::vector<Manager> managers_;
};

} // namespace kumiki::dsm
