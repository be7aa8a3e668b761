#pragma once

#include <csignal>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace kumiki::bench {

/// Page faults that do nothing but copy the page and make it accessible, with the mechanism of the shared arrays and
/// nothing of the library: the bound of a read miss whose page is on the same host.
class BareFaults {
public:
    /// `mechanism`: as kumiki_shared_mechanism() calls it. Throws std::runtime_error if the system refuses.
    BareFaults(std::string mechanism, std::size_t page_bytes, std::size_t pages);
    BareFaults(const BareFaults&) = delete;
    BareFaults& operator=(const BareFaults&) = delete;
    ~BareFaults();

    /// Reads a word of every page, none of which is accessible before, in an order that no prefetching knows. Returns
    /// the seconds for all, and whether the words were right.
    std::pair<double, bool> read_all();

private:
    bool by_userfaultfd() const { return mechanism_ == "userfaultfd"; }
    void register_view();
    void take_away();
    bool handle(const void* address);
    static void on_signal(int, siginfo_t* info, void*);

    std::string mechanism_;
    std::size_t page_bytes_, pages_;
    int file_ = -1, faults_ = -1;
    std::byte *frames_ = nullptr, *view_ = nullptr;
    std::vector<std::byte> source_; ///< what the pages are copied from
    unsigned char generation_ = 0;
};

} // namespace kumiki::bench
