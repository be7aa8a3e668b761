// routines-<mpi>: the point-to-point routines of an MPI beside each other (JAMSTEC paper, section 2): those that need
// no preparation (SEND, SENDRECV, ISEND) and those that need it (RSEND, SSEND, BSEND); the preparation is part of the
// time.
#include <mpi.h>

#include <optional>
#include <vector>

#include "bench/common/mpi_world.hpp"
#include "bench/routines/chain.hpp"
#include "measure/program.hpp"

namespace kumiki::bench {
namespace {

class MpiRoutines {
public:
    MpiRoutines(Neighbours neighbours, std::size_t bytes) : to_(neighbours.next), from_(neighbours.previous) {
        attached_.resize(bytes + MPI_BSEND_OVERHEAD);
    }

    std::vector<Routine> all() {
        return {
            {"send", [this](Messages& m) { blocking(MPI_Send, m); }},
            {"sendrecv", [this](Messages& m) { sendrecv(m); }},
            {"isend", [this](Messages& m) { isend(m); }},
            {"rsend", [this](Messages& m) { rsend(m); }},
            {"ssend", [this](Messages& m) { blocking(MPI_Ssend, m); }},
            {"bsend", [this](Messages& m) { bsend(m); }},
        };
    }

private:
    static int count(const Messages& m) { return static_cast<int>(m.sent().size()); }

    void receive(Messages& m) const {
        MPI_Recv(m.received().data(), count(m), MPI_DOUBLE, from_, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    template <class Send>
    void blocking(Send send, Messages& m) const {
        send(m.sent().data(), count(m), MPI_DOUBLE, to_, 0, MPI_COMM_WORLD);
        receive(m);
    }
    void sendrecv(Messages& m) const {
        MPI_Sendrecv(m.sent().data(), count(m), MPI_DOUBLE, to_, 0, m.received().data(), count(m), MPI_DOUBLE, from_, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    void isend(Messages& m) const {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Isend(m.sent().data(), count(m), MPI_DOUBLE, to_, 0, MPI_COMM_WORLD, &request);
        receive(m);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    /// The receive must already be posted: the receiver reports this by an empty message.
    void rsend(Messages& m) const {
        constexpr int ready = 1;
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Irecv(m.received().data(), count(m), MPI_DOUBLE, from_, 0, MPI_COMM_WORLD, &request);
        MPI_Send(nullptr, 0, MPI_BYTE, from_, ready, MPI_COMM_WORLD);
        MPI_Recv(nullptr, 0, MPI_BYTE, to_, ready, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Rsend(m.sent().data(), count(m), MPI_DOUBLE, to_, 0, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    /// The buffer is returned when the message has left it.
    void bsend(Messages& m) {
        MPI_Buffer_attach(attached_.data(), static_cast<int>(attached_.size()));
        MPI_Bsend(m.sent().data(), count(m), MPI_DOUBLE, to_, 0, MPI_COMM_WORLD);
        receive(m);
        void* buffer = nullptr;
        int size = 0;
        MPI_Buffer_detach(static_cast<void*>(&buffer), &size);
    }

    int to_, from_;
    std::vector<char> attached_;
};

int measure_all(MpiWorld& world, const RoutineOptions& options) {
    const auto neighbours = Neighbours::of(world, MPI_PROC_NULL);
    std::optional<MpiRoutines> routines; // for the present size
    return sweep_routines(world, options, KUMIKI_PEER_NAME,
                          [&](std::size_t bytes) { return routines.emplace(neighbours, bytes).all(); });
}

} // namespace
} // namespace kumiki::bench

int main(int argc, char** argv) {
    using namespace kumiki;
    const auto options = bench::RoutineOptions::parse(argc, argv);
    bench::MpiWorld world(&argc, &argv);
    return measure::guarded("routines-" KUMIKI_PEER_NAME, [&] { return bench::measure_all(world, options); });
}
