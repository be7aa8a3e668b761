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

/// Writes to one of the launcher's own streams in a thread of its own, because the stream's reader may stop reading,
/// and the launcher must not wait for it. The thread begins with the first text, after all processes have been forked.
class StreamWriter {
public:
    /// How many bytes have been written, and which sender they came from.
    struct Receipt {
        std::size_t sender;
        std::size_t bytes;
    };

    explicit StreamWriter(int stream);
    ~StreamWriter();
    StreamWriter(const StreamWriter&) = delete;
    StreamWriter& operator=(const StreamWriter&) = delete;

    int stream() const { return stream_; }
    /// Queues `text` to be written after what was added before; when that is done, take_progress() returns the receipt.
    void add(std::string text, Receipt receipt);
    /// Says that nothing more will be added.
    void finish();

    /// A descriptor that becomes readable when there is progress to take.
    int progress_descriptor() const { return progress_.get(); }
    struct Progress {
        std::vector<Receipt> receipts;
        bool broken;   ///< the stream has no reader any more
        bool finished; ///< everything is written after finish()
    };
    Progress take_progress();

private:
    struct Item {
        std::string text;
        Receipt receipt;
    };
    void run();
    void write(std::string_view text);
    void notify() const;

    const int stream_;
    platform::Descriptor progress_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Item> items_;
    std::vector<Receipt> receipts_;
    bool broken_ = false, closing_ = false, finished_ = false;
    std::thread thread_;
};

} // namespace kumiki::launch
