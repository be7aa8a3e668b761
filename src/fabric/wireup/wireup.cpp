#include "fabric/wireup/wireup.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

#include "fabric/wireup/manager.hpp"
#include "fabric/wireup/meeting.hpp"

namespace kumiki::fabric {
namespace {

/// The launcher's socket: a card is its length (32 bits) and so many bytes.
class Socket {
public:
    explicit Socket(int descriptor) : descriptor_(descriptor) {}
    ~Socket() { close(descriptor_); } // tells the launcher that this rank has what it needs
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;

    Result<> write(const std::vector<std::byte>& card) {
        const auto length = static_cast<std::uint32_t>(card.size());
        if (auto written = all(::write, &length, sizeof length); !written) return written;
        return all(::write, card.data(), card.size());
    }
    Result<std::vector<std::byte>> read() {
        std::uint32_t length = 0;
        if (auto known = all(::read, &length, sizeof length); !known) return tl::unexpected(known.error());
        std::vector<std::byte> card(length);
        if (auto whole = all(::read, card.data(), card.size()); !whole) return tl::unexpected(whole.error());
        return card;
    }

private:
    template <class Move, class Bytes>
    Result<> all(Move move, Bytes* bytes, std::size_t count) {
        for (std::size_t done = 0; done < count;) {
            const ssize_t moved = move(descriptor_, (char*)bytes + done, count - done);
            if (moved > 0) done += static_cast<std::size_t>(moved);
            else if (moved == 0)
                return fail(KUMIKI_ERROR_ENVIRONMENT,
                            "the launcher ended before all ranks had found each other; its own message says why");
            else if (errno != EINTR)
                return fail(KUMIKI_ERROR_ENVIRONMENT,
                            fmt::format("cannot reach the launcher through KUMIKI_WIREUP={}: {}; it is set by the "
                                        "launcher, not by hand",
                                        descriptor_, std::strerror(errno)));
        }
        return {};
    }

    int descriptor_;
};

} // namespace

Wireup wireup_of(const Settings& settings) {
    return [descriptor = settings.wireup,
            size = settings.size](const std::vector<std::byte>& own) -> Result<std::vector<std::vector<std::byte>>> {
        if (descriptor < 0)
            return fail(KUMIKI_ERROR_ENVIRONMENT,
                        "this rank's job spans several hosts, but nothing tells how to find the others; start it by "
                        "kumiki-run --hosts");
        Socket launcher(descriptor);
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
    auto space = open_space();
    if (!space) return tl::unexpected(space.error());
    if (*space == nullptr || (*space)->size() == 1) return std::nullopt;
    if ((*space)->size() > most_ranks)
        return fail(KUMIKI_ERROR_ENVIRONMENT, fmt::format("the launcher has started {} ranks; a job has at most {}",
                                                          (*space)->size(), most_ranks));
    const Exchange exchange(std::move(*space));
    if (exchange.is_spent())
        return fail(KUMIKI_ERROR_STATE, fmt::format("rank {} has already joined the job; a process joins once, and a "
                                                    "rank is one process",
                                                    exchange.rank()));
    auto job = RankMeeting(exchange).hold(settings);
    if (!job) return tl::unexpected(job.error());
    return std::move(*job);
}

} // namespace kumiki::fabric
