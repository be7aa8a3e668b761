// message-<mpi>: the peers of message, measured by the same loops over the same sizes.
#include <mpi.h>

#include <array>

#include "bench/common/mpi_world.hpp"
#include "bench/message/loops.hpp"
#include "measure/program.hpp"

namespace kumiki::bench {
namespace {

class MpiTalk {
public:
    explicit MpiTalk(int rank) : rank_(rank), requests_(messages_of_a_window) {}

    int rank() const { return rank_; }
    void settle() {}
    void send(const void* data, std::size_t bytes) {
        MPI_Send(data, static_cast<int>(bytes), MPI_BYTE, other(), 0, MPI_COMM_WORLD);
    }
    void receive(void* into, std::size_t bytes) {
        MPI_Recv(into, static_cast<int>(bytes), MPI_BYTE, other(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    void send_many(std::span<const std::uint64_t> words) {
        for (std::size_t i = 0; i < words.size(); ++i)
            MPI_Isend(&words[i], 1, MPI_UINT64_T, other(), 0, MPI_COMM_WORLD, &requests_[i]);
        MPI_Waitall(static_cast<int>(words.size()), requests_.data(), MPI_STATUSES_IGNORE);
    }
    void receive_many(std::span<std::uint64_t> room) {
        for (std::size_t i = 0; i < room.size(); ++i)
            MPI_Irecv(&room[i], 1, MPI_UINT64_T, other(), 0, MPI_COMM_WORLD, &requests_[i]);
        MPI_Waitall(static_cast<int>(room.size()), requests_.data(), MPI_STATUSES_IGNORE);
    }

    MPI_Request start_receive(std::span<std::byte> into) {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Irecv(into.data(), static_cast<int>(into.size()), MPI_BYTE, other(), 0, MPI_COMM_WORLD, &request);
        return request;
    }
    static void finish(MPI_Request& request) { MPI_Wait(&request, MPI_STATUS_IGNORE); }

    /// Seconds until a short message sent after a long one has been answered, and until the long one has.
    std::pair<double, double> interleave(std::span<std::byte> data) {
        std::array<std::byte, 64> note{};
        std::array<MPI_Request, 2> both{};
        const int bytes = static_cast<int>(data.size());
        if (rank_ == 0) {
            const auto start = Clock::now();
            MPI_Isend(data.data(), bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &both[0]);
            MPI_Isend(note.data(), note.size(), MPI_BYTE, 1, 2, MPI_COMM_WORLD, &both[1]);
            std::byte answer{};
            receive(&answer, 1);
            const double first = seconds_since(start);
            receive(&answer, 1);
            const double second = seconds_since(start);
            MPI_Waitall(2, both.data(), MPI_STATUSES_IGNORE);
            return {first, second};
        }
        MPI_Irecv(data.data(), bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &both[0]);
        MPI_Recv(note.data(), note.size(), MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        send(note.data(), 1);
        MPI_Wait(&both[0], MPI_STATUS_IGNORE);
        send(note.data(), 1);
        return {0, 1};
    }

private:
    int other() const { return 1 - rank_; }

    int rank_;
    std::vector<MPI_Request> requests_;
};

int measure_all(MpiWorld& world, const RemoteMemoryOptions& options) {
    need_two_ranks(world);
    MpiTalk talk(world.rank());
    const Buffer own(options.largest);
    MessageRows rows(world, talk, KUMIKI_PEER_NAME, options);
    int code = rows.small();
    code = std::max(code, rows.round_trip_times(own.span()));
    code = std::max(code, rows.sizes({{"own", own.span()}}));
    code = std::max(code, rows.independent(own.span()));
    return std::max(code, rows.interleaving([&] { return talk.interleave(own.span()); }));
}

} // namespace
} // namespace kumiki::bench

int main(int argc, char** argv) {
    using namespace kumiki;
    const auto options = bench::RemoteMemoryOptions::parse(argc, argv);
    bench::MpiWorld world(&argc, &argv);
    return measure::guarded("message-" KUMIKI_PEER_NAME, [&] { return bench::measure_all(world, options); });
}
