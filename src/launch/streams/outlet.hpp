#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "launch/system/descriptor.hpp"

namespace kumiki::launch {

/// Writes to one of the launcher's own streams in a thread of its own, because whoever reads it may stop reading, and
/// the launcher must stay awake. The thread begins with the first text, after all processes have been forked.
class Outlet {
public:
    /// Bytes that have left, and whose they were.
    struct Receipt {
        std::size_t sender;
        std::size_t bytes;
    };

    explicit Outlet(int stream);
    ~Outlet();
    Outlet(const Outlet&) = delete;
    Outlet& operator=(const Outlet&) = delete;

    int stream() const { return stream_; }
    /// Writes `text` when its turn comes; then there is the receipt.
    void add(std::string text, Receipt receipt);
    /// Nothing more will be added.
    void finish();

    /// Becomes readable when there is something new: receipts, the end, or that nobody reads any more.
    int news() const { return news_.get(); }
    struct News {
        std::vector<Receipt> receipts;
        bool broken;   ///< nobody reads any more
        bool finished; ///< everything is written
    };
    News take_news();

private:
    struct Item {
        std::string text;
        Receipt receipt;
    };
    void run();
    void write_all(std::string_view text);
    void ring() const;

    const int stream_;
    Descriptor news_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Item> items_;
    std::vector<Receipt> receipts_;
    bool broken_ = false, closing_ = false, finished_ = false;
    std::thread thread_;
};

} // namespace kumiki::launch
