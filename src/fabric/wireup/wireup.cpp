#include "fabric/wireup/wireup.hpp"

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <span>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

#include "fabric/wireup/exit_hook.hpp"
#include "fabric/wireup/manager.hpp"
#include "fabric/wireup/meeting.hpp"
#include "platform/hardware.hpp"
#include "platform/write_all.hpp"

namespace kumiki::fabric {
namespace {

/// kumiki-run's socket: a card is sent as its length (32 bits), followed by that many bytes.
class LauncherSocket {
public:
    explicit LauncherSocket(int descriptor) : descriptor_(descriptor) {}
    ~LauncherSocket() { close(descriptor_); } // tells the launcher that this rank has all cards
    LauncherSocket(const LauncherSocket&) = delete;
    LauncherSocket& operator=(const LauncherSocket&) = delete;

    Result<> write(std::span<const std::byte> card) const {
        const auto length = static_cast<std::uint32_t>(card.size());
        if (!platform::send_all(descriptor_, std::as_bytes(std::span(&length, 1))) ||
            !platform::send_all(descriptor_, card))
            return broken();
        return {};
    }
    Result<std::vector<std::byte>> read() const {
        std::uint32_t length = 0;
        if (auto known = read_all(std::as_writable_bytes(std::span(&length, 1))); !known)
            return tl::unexpected(known.error());
        if (length > longest_card) return unusable(fmt::format("it offers a card of {} bytes", length));
        std::vector<std::byte> card(length);
        if (auto whole = read_all(card); !whole) return tl::unexpected(whole.error());
        return card;
    }

private:
    Result<> read_all(std::span<std::byte> left) const {
        while (!left.empty()) {
            const ssize_t received = recv(descriptor_, left.data(), left.size(), 0);
            if (received > 0) left = left.subspan(static_cast<std::size_t>(received));
            else if (received == 0) return ended();
            else if (errno != EINTR) return broken();
        }
        return {};
    }

    tl::unexpected<Failure> broken() const {
        if (errno == EPIPE || errno == ECONNRESET) return ended();
        return unusable(std::strerror(errno));
    }
    static tl::unexpected<Failure> ended() {
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    "the launcher ended before all ranks had found each other; its own message says why");
    }
    tl::unexpected<Failure> unusable(std::string_view why) const {
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("cannot reach the launcher through KUMIKI_WIREUP={}: {}; it is set by the launcher, "
                                "not by hand",
                                descriptor_, why));
    }

    int descriptor_;
};

/// A rank that exits inside its job must end the others. Launchers that do not know of the job regard a rank that exits
/// with 0 as finished, and the others would wait for it forever. Therefore it exits with the code that kumiki-run would
/// return for it.
void end_all_at_exit_within(const OthersJob& job, const Settings& settings, std::shared_ptr<KeyValueSpace> space) {
    at_process_exit([segment = std::weak_ptr(job.segment), local_rank = settings.local_rank,
                     space = std::move(space)](int code) {
        const auto joined = segment.lock();
        if (!joined || joined->block(local_rank).state.load() != shm::RankState::joined) return;
        constexpr int failure = 1;
        if (code == 0)
            fmt::print(stderr,
                       "kumiki: rank {} of {} on host {} (process {}) ended without leaving the job (Job's destructor "
                       "did not run); it exits with code {}, so that its launcher ends the other ranks\n",
                       space->rank(), space->size(), platform::host_name(), getpid(), failure);
        std::fflush(nullptr);
        space->abort(code == 0 ? failure : code);
        _exit(code == 0 ? failure : code);
    });
}

} // namespace

Wireup wireup_of(const Settings& settings) {
    return [descriptor = settings.wireup,
            size = settings.size](const std::vector<std::byte>& own) -> Result<std::vector<std::vector<std::byte>>> {
        if (descriptor < 0)
            return fail(KUMIKI_ERROR_ENVIRONMENT,
                        "this rank's job spans several hosts, but nothing tells how to find the others; start it by "
                        "kumiki-run --hosts");
        const LauncherSocket launcher(descriptor);
        if (auto written = launcher.write(own); !written) return tl::unexpected(written.error());
        std::vector<std::vector<std::byte>> cards;
        for (int rank = 0; rank < size; ++rank) {
            auto card = launcher.read();
            if (!card) return tl::unexpected(card.error());
            cards.push_back(std::move(*card));
        }
        return cards;
    };
}

Result<std::optional<OthersJob>> meet_by_other_launcher(Settings& settings) {
    auto space = open_space(std::chrono::seconds(settings.timeout_s));
    if (!space) return tl::unexpected(space.error());
    if (*space == nullptr || (*space)->size() == 1) return std::nullopt;
    if ((*space)->size() > most_ranks)
        return fail(KUMIKI_ERROR_ENVIRONMENT, fmt::format("the launcher has started {} ranks; a job has at most {}",
                                                          (*space)->size(), most_ranks));
    const std::shared_ptr<KeyValueSpace> shared = std::move(*space);
    Exchange exchange(shared);
    if (exchange.is_spent())
        return fail(KUMIKI_ERROR_STATE, fmt::format("rank {} has already joined the job; a process joins once, and a "
                                                    "rank is one process",
                                                    exchange.rank()));
    if (has_finalized_mpi())
        if (auto replaced = shared->replace_fences(); !replaced) return tl::unexpected(replaced.error());
    auto job = meet(std::move(exchange), settings);
    if (!job) return tl::unexpected(job.error());
    end_all_at_exit_within(*job, settings, shared);
    return std::move(*job);
}

} // namespace kumiki::fabric
