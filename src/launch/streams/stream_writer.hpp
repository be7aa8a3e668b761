#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "platform/descriptor.hpp"

namespace kumiki::launch {

/// Writes to one of the launcher's own streams in a separate thread, because the stream's reader may stop reading, and
/// the launcher must not wait for it. The thread starts with the first text, after all processes have been forked.
class StreamWriter {
public:
    /// How many bytes have been written, and from which sender they came.
    struct Receipt {
        std::size_t sender;
        std::size_t bytes;
    };

    explicit StreamWriter(int stream);
    ~StreamWriter();
    StreamWriter(const StreamWriter&) = delete;
    StreamWriter& operator=(const StreamWriter&) = delete;

    int stream() const { return stream_; }
    /// Queues `text` after the texts that were added before. When it has been written, take_progress() returns the
    /// receipt.
    void add(std::string text, Receipt receipt);
    /// Declares that nothing more will be added.
    void finish();

    /// A descriptor that becomes readable when take_progress() has something to return.
    int progress_descriptor() const { return progress_.get(); }
    struct Progress {
        std::vector<Receipt> receipts;
        bool broken;         ///< nothing more can be written
        std::string failure; ///< the sentence that says why, unless the stream no longer has a reader
        bool finished;       ///< everything has been written after finish()
    };
    Progress take_progress();

private:
    struct Item {
        std::string text;
        Receipt receipt;
    };
    void start();
    void run();
    void write(std::string_view text);
    void break_off(std::string failure);
    void notify() const;

    const int stream_;
    platform::Descriptor progress_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Item> items_;
    std::vector<Receipt> receipts_;
    std::string failure_;
    bool broken_ = false, closing_ = false, finished_ = false;
    std::thread thread_;
};

} // namespace kumiki::launch
