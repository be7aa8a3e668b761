#pragma once

#include <vector>

#include "kernels/crews/message/message_crew.hpp"
#include "kernels/crews/panels.hpp"

namespace kumiki::kernels {

/// The first thread of an owner sends its panel to each process of the line, and the first threads there receive it,
/// while all threads use the previous panel.
class MessageCrew::Panels {
public:
    static constexpr bool any_order = false;

    Panels(MessageCrew& crew, PanelLine line, Fetch)
        : job_(crew.job()), block_(untouched(line.largest)), buffers_(job_.rank(), std::move(line)) {
        buffers_.make();
    }

    double* block() { return block_.get(); }
    void start(Worker& worker, std::size_t number) {
        if (worker.local() != 0) return;
        worker.enter(Phase::communication);
        const auto [owner, begin, count] = buffers_.place(number);
        if (buffers_.is_own(number)) {
            for (const int other : buffers_.line().processes)
                if (other != owner)
                    requests_.push_back(job_.send(other, tag, std::span<const double>(block_.get() + begin, count)));
        } else requests_.push_back(job_.receive(owner, tag, std::span(buffers_.buffer(number), count)));
        worker.enter(Phase::computation);
    }
    void wait(Worker& worker, std::size_t) {
        if (worker.local() != 0) return;
        worker.enter(Phase::communication);
        wait_all(requests_);
        requests_.clear();
        worker.enter(Phase::computation);
    }
    const double* at(std::size_t number) const {
        return buffers_.is_own(number) ? block_.get() + buffers_.place(number).begin : buffers_.buffer(number);
    }
    static bool copies() { return true; }
    static bool gets() { return false; }

private:
    static constexpr int tag = 0; // two processes share one line of a grid at most, and messages keep their order

    Job& job_;
    std::unique_ptr<double[]> block_;
    PanelBuffers buffers_;
    std::vector<Request> requests_;
};

} // namespace kumiki::kernels
