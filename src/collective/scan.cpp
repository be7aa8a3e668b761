#include <algorithm>
#include <cstring>

#include "collective/collectives.hpp"
#include "collective/combine.hpp"
#include "kumiki/kumiki.h"

namespace kumiki::collective {

using fabric::Network;
using fabric::shm::Contribution;

/// Over hosts, the scan works by runs, which are consecutive ranks on one host. Each rank first computes the result
/// within its run; then the last ranks of the runs determine the total of all earlier runs, and tell the other ranks.
Result<> Collectives::scan(const void* input, void* output, std::size_t count, kumiki_type type,
                           kumiki_operation operation) {
    const CallGuard guard(*this);
    if (auto admitted = guard.admitted(); !admitted) return admitted;
    if (auto checked = check_reduction("scan", input, output, count, type, operation, every_rank); !checked)
        return refuse_inside(checked);
    const std::size_t element = element_bytes(type);
    const CollectiveCall call{static_cast<std::uint32_t>(Kind::scan), static_cast<std::uint32_t>(type << 4 | operation),
                              count * element};
    const std::span own(static_cast<const std::byte*>(input), call.bytes);
    const std::span result(static_cast<std::byte*>(output), call.bytes);
    if (call.bytes <= Contribution::capacity && has_lines() && one_host())
        return scan_short(call, own, result, type, operation);
    if (auto same = announce(call, {}); !same) return same;
    for (std::size_t begin = 0; begin < own.size(); begin += whole_elements(element)) {
        const auto length = std::min(whole_elements(element), own.size() - begin);
        publish(own.subspan(begin, length));
        scan_chunk(result.subspan(begin, length), type, operation);
    }
    if (!one_host()) scan_runs(result, type, operation);
    return {};
}

/// Short values travel with the announcement.
Result<> Collectives::scan_short(const CollectiveCall& call, std::span<const std::byte> own,
                                 std::span<std::byte> result, kumiki_type type, kumiki_operation operation) {
    calls_.begin(CallLog::Place::exchange);
    turn_ ^= 1; // every collective does this, so ranks that differ by mistake stay in step
    std::array<std::byte, Contribution::capacity> sum;
    auto same = exchange(call, own, [&](int local, const std::byte* payload) {
        if (local > group_.rank() || own.empty()) return;
        if (local == 0) std::memcpy(sum.data(), payload, own.size());
        else combine(sum.data(), payload, own.size() / element_bytes(type), type, operation);
    });
    if (same && !result.empty()) std::memcpy(result.data(), sum.data(), result.size());
    return same;
}

/// Every rank adds up its share of the chunk from board to board, in place (no other rank uses that share); then each
/// rank finds its result on its own board.
void Collectives::scan_chunk(std::span<std::byte> result, kumiki_type type, kumiki_operation operation) {
    const std::size_t element = element_bytes(type);
    std::size_t begin = 0, end = 0;
    kumiki_part(result.size() / element, group_.host_size(), group_.host_rank(), &begin, &end);
    for (int local = 1; local < group_.host_size(); ++local)
        if (group_.number_on_host(local) == group_.number_on_host(local - 1) + 1) // of the same run
            combine(published(local) + begin * element, published(local - 1) + begin * element, end - begin, type,
                    operation);
    barrier_.meet_host();
    std::memcpy(result.data(), published(group_.host_rank()), result.size());
}

void Collectives::scan_runs(std::span<std::byte> result, kumiki_type type, kumiki_operation operation) {
    std::vector<int> last; // the last rank of each run
    int own_run = 0;
    for (int rank = 0; rank < group_.size(); ++rank) {
        if (rank == group_.rank()) own_run = static_cast<int>(last.size());
        if (rank + 1 == group_.size() || group_.host_of(rank + 1) != group_.host_of(rank)) last.push_back(rank);
    }
    const int speaker = last[static_cast<std::size_t>(own_run)];
    std::vector<std::byte> before; // the combined values of all earlier runs
    ++tag_;
    if (group_.rank() == speaker) before = scan_before(last, own_run, result, type, operation);
    const std::size_t chunk = whole_elements(element_bytes(type));
    for (std::size_t begin = 0; begin < result.size(); begin += chunk) {
        const auto length = std::min(chunk, result.size() - begin);
        publish(group_.rank() == speaker ? std::span<const std::byte>(before).subspan(begin, length)
                                         : std::span<const std::byte>{});
        if (own_run > 0)
            combine(result.data() + begin, published(group_.local_rank(speaker)), length / element_bytes(type), type,
                    operation);
    }
}

/// Passes the total from run to run; neighbouring runs are on different hosts. Each run adds its own values to those
/// before it.
std::vector<std::byte> Collectives::scan_before(const std::vector<int>& last, int run, std::span<const std::byte> own,
                                                kumiki_type type, kumiki_operation operation) {
    Network& network = *fabric_.network();
    std::vector<std::byte> before(own.size()), all(own.begin(), own.end());
    if (run > 0) {
        network.receive_in_collective(group_, last[static_cast<std::size_t>(run - 1)], tag_, before);
        combine(all.data(), before.data(), own.size() / element_bytes(type), type, operation);
    }
    if (run + 1 < static_cast<int>(last.size()))
        static_cast<void>(network.send_in_collective(group_, last[static_cast<std::size_t>(run + 1)], tag_, all));
    return before;
}

} // namespace kumiki::collective
