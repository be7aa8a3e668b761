// A rank that joins its job by hand, perhaps leaves it, and exits with a given code: kumiki-test-rank joined|left CODE

#include <cstdlib>
#include <string_view>
#include <unistd.h>

#include "fabric/shm/segment.hpp"
#include "settings/settings.hpp"

int main(int argc, char** argv) {
    using namespace kumiki;
    if (argc != 3) return 99;
    const auto settings = read_settings(environ);
    if (!settings || settings->segment < 0) return 98;
    const auto segment = fabric::shm::Segment::adopt(settings->segment, settings->size);
    if (!segment) return 97;
    auto& state = segment->block(settings->rank).state;
    if (state.load() != fabric::shm::RankState::absent) return 96;
    state = std::string_view(argv[1]) == "joined" ? fabric::shm::RankState::joined : fabric::shm::RankState::left;
    return std::atoi(argv[2]);
}
