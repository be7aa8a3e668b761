#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace kumiki::kernels {

/// How a process gets the panels of other processes.
enum class Fetch {
    in_place, ///< read in place, if they are accessible
    get,      ///< copied, the next one while the present one is in use
    before,   ///< copied by the first worker of a process while its other workers wait
};

/// The position of a panel: the process whose block contains it, and its numbers there.
struct PanelPlace {
    int owner;
    std::size_t begin, count;
};

/// A line of processes (a row or column of a grid), from the point of view of one of them: every process has a block of
/// numbers, and all processes of a line need the same panels, which are parts of their blocks.
struct PanelLine {
    std::vector<int> processes; ///< of the line, ascending
    std::vector<PanelPlace> panels;
    std::size_t largest; ///< block of any process: the same at all processes of the job
};

/// The blocks, and the panels in turn: C::Panels(crew, line, fetch). Every worker starts a panel and waits for it
/// before it uses it; the next one may be started when all workers of the process have done with the one before.
///   Panels::any_order     whether the processes of a line may take their panels in different orders
template <class P, class W>
concept PanelsFor = requires(P panels, W worker, std::size_t number) {
    { panels.block() } -> std::same_as<double*>; ///< of this process
    panels.start(worker, number);                ///< the phase computation begins
    panels.wait(worker, number);                 ///< the workers of a process must meet after it, where copies()
    { panels.at(number) } -> std::same_as<const double*>;
    { panels.copies() } -> std::same_as<bool>; ///< whether panels are copied before they are used
    { panels.gets() } -> std::same_as<bool>;   ///< whether they are got (see Fetch)
    { P::any_order } -> std::convertible_to<bool>;
};

/// Memory for `count` numbers that no thread has touched yet: it will be near the thread that first writes it.
inline std::unique_ptr<double[]> untouched(std::size_t count) {
    return std::make_unique_for_overwrite<double[]>(count);
}

/// The panels of a line as one process accesses them: its own panels are in its block, and those of others arrive in
/// two buffers, used in turn, so that one is filled while the other is used.
class PanelBuffers {
public:
    PanelBuffers(int self, PanelLine line) : self_(self), line_(std::move(line)) {}

    void make() {
        std::size_t most = 0;
        for (const PanelPlace& panel : line_.panels)
            if (panel.owner != self_) most = std::max(most, panel.count);
        for (auto& buffer : buffers_) buffer = untouched(most);
    }
    const PanelLine& line() const { return line_; }
    const PanelPlace& place(std::size_t number) const { return line_.panels[number]; }
    bool is_own(std::size_t number) const { return place(number).owner == self_; }
    double* buffer(std::size_t number) const { return buffers_[number % 2].get(); }

private:
    int self_;
    PanelLine line_;
    std::array<std::unique_ptr<double[]>, 2> buffers_;
};

} // namespace kumiki::kernels
