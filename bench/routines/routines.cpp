// routines: this library's ways to send a message, beside each other, along the same chain as the routines of the MPIs
// (JAMSTEC paper, section 2). Each does the same as the routine of that name; there is nothing to prepare.
#include <array>
#include <utility>
#include <vector>

#include "bench/common/job_world.hpp"
#include "bench/routines/chain.hpp"
#include "kumiki/kumiki.hpp"
#include "measure/program.hpp"

namespace kumiki::bench {
namespace {

class KumikiRoutines {
public:
    KumikiRoutines(Job& job, Neighbours neighbours) : job_(job), to_(neighbours.next), from_(neighbours.previous) {}

    std::vector<Routine> all() const {
        return {
            {"send", [this](Messages& m) { send(m); }},
            {"sendrecv", [this](Messages& m) { sendrecv(m); }},
            {"isend", [this](Messages& m) { isend(m); }},
            copy_alone(job_.rank()),
        };
    }

    static constexpr int nobody = -1;

private:
    /// At the ends of the chain, where there is no neighbour, there is nothing to wait for.
    Request sending(const Messages& m) const { return to_ == nobody ? Request{} : job_.send(to_, 0, m.sent()); }
    Request receiving(Messages& m) const { return from_ == nobody ? Request{} : job_.receive(from_, 0, m.received()); }
    static void complete(Request request) { wait_all(std::span(&request, 1)); }

    void send(Messages& m) const {
        complete(sending(m));
        complete(receiving(m));
    }
    void sendrecv(Messages& m) const {
        std::array both{receiving(m), sending(m)};
        wait_all(both);
    }
    void isend(Messages& m) const {
        Request sent = sending(m);
        complete(receiving(m));
        complete(std::move(sent));
    }

    Job& job_;
    int to_, from_;
};

int measure_all(const RoutineOptions& options) {
    Job job;
    JobWorld world(job);
    const KumikiRoutines routines(job, Neighbours::of(world, KumikiRoutines::nobody));
    return sweep_routines(world, options, "kumiki", [&](std::size_t) { return routines.all(); });
}

} // namespace
} // namespace kumiki::bench

int main(int argc, char** argv) {
    using namespace kumiki;
    const auto options = bench::RoutineOptions::parse(argc, argv);
    return measure::guarded("routines", [&] { return bench::measure_all(options); });
}
