// Ranks that do by hand what the library does, so that the launcher is tested alone.
//   kumiki-test-rank joined|left|over CODE    joins its job, perhaps leaves it or ends it for all, and exits with the
//   code kumiki-test-rank cards BYTES         exchanges cards of so many bytes through KUMIKI_WIREUP, and prints how
//   many ranks
//                                        have sent what they should

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

#include "fabric/shm/segment.hpp"
#include "settings/settings.hpp"

namespace {

using namespace kumiki;

int local_size(const Settings& settings) { return settings.local_size == 0 ? settings.size : settings.local_size; }

int join(const Settings& settings, std::string_view how, int code) {
    if (settings.segment < 0) return 98;
    const auto segment = fabric::shm::Segment::adopt(settings.segment, local_size(settings));
    if (!segment) return 97;
    auto& state = segment->block(settings.local_rank).state;
    if (state.load() != fabric::shm::RankState::absent) return 96;
    using State = fabric::shm::RankState;
    state = how == "joined" ? State::joined : how == "over" ? State::over : State::left;
    return code;
}

/// Different for each rank, and different at every position.
std::string card_of(int rank, std::size_t bytes) {
    std::string card = std::to_string(rank) + ":";
    while (card.size() < bytes) card += static_cast<char>('a' + (card.size() + static_cast<std::size_t>(rank)) % 26);
    return card.substr(0, bytes);
}

bool receive(int socket, void* to, std::size_t bytes) {
    return bytes == 0 || recv(socket, to, bytes, MSG_WAITALL) == static_cast<ssize_t>(bytes);
}

int exchange_cards(const Settings& settings, std::size_t bytes) {
    const std::string own = card_of(settings.rank, bytes);
    const auto length = static_cast<std::uint32_t>(own.size());
    const int socket = settings.wireup;
    if (write(socket, &length, sizeof length) != sizeof length) return 95;
    for (std::string_view left = own; !left.empty();) { // in pieces, as by a slow writer
        const auto part = left.substr(0, 1000);
        if (write(socket, part.data(), part.size()) != static_cast<ssize_t>(part.size())) return 94;
        left.remove_prefix(part.size());
    }
    int right = 0;
    for (int rank = 0; rank < settings.size; ++rank) {
        std::uint32_t bytes_of_card = 0;
        if (!receive(socket, &bytes_of_card, sizeof bytes_of_card)) return 93;
        std::string card(bytes_of_card, ' ');
        if (!receive(socket, card.data(), card.size())) return 92;
        right += card == card_of(rank, bytes) ? 1 : 0;
    }
    std::printf("%d cards of %d\n", right, settings.size);
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 99;
    const auto settings = read_settings(environ);
    if (!settings) return 98;
    const std::string_view task(argv[1]);
    if (task == "cards") return exchange_cards(*settings, static_cast<std::size_t>(std::atoi(argv[2])));
    return join(*settings, task, std::atoi(argv[2]));
}
