#include "fabric/group.hpp"

#include <fmt/format.h>
#include <unordered_map>

#include "fabric/fabric.hpp"

namespace kumiki::fabric {

Group::Group(Fabric& fabric, std::uint64_t id, const std::vector<Member>& members) : fabric_(fabric), id_(id) {
    Network* const network = fabric.network();
    std::unordered_map<int, int> number_of_host; // from host numbers in the job to those in the group
    std::vector<int> members_of_host;
    for (const Member& member : members) {
        const int number = size();
        const int job_host = network == nullptr ? 0 : network->hosts().host_of(member.rank);
        const auto [host, is_new] = number_of_host.try_emplace(job_host, hosts());
        if (is_new) {
            leaders_.push_back(number);
            members_of_host.push_back(0);
        }
        const int local = members_of_host[static_cast<std::size_t>(host->second)]++;
        places_.push_back({member.rank, host->second, local});
        if (member.rank == fabric.rank()) {
            rank_ = number;
            host_rank_ = local;
            own_host_ = host->second;
            block_ = member.block;
        }
        if (fabric.memory().is_remote(member.rank)) continue;
        auto& block = fabric.memory().block(member.rank).groups[static_cast<std::size_t>(member.block)];
        locals_.push_back(
            {number, fabric.memory().local_rank(member.rank), &block, fabric.memory().arena(member.rank)});
    }
    own_ = &block(host_rank_);
    host_ = &block(0).host;
    if (!on_one_host()) network->open_group(*this);
}

Group::~Group() {
    if (is_job()) return; // its blocks are destroyed with the fabric
    if (!on_one_host()) fabric_.network()->close_group(*this);
    // release: all accesses of this rank to the block come before its owner sees this count.
    for (const Local& local : locals_) local.block->gone.fetch_add(1, std::memory_order_release);
    fabric_.group_blocks().give_back(block_, host_size());
}

int Group::number_of(int rank_in_job) const {
    if (is_job()) return has_rank(rank_in_job) ? rank_in_job : -1;
    for (int number = 0; number < size(); ++number)
        if (place(number).rank == rank_in_job) return number;
    return -1;
}

std::string Group::describe(int number) const {
    return is_job() ? fmt::format("rank {}", number)
                    : fmt::format("rank {} of the group (rank {} of the job)", number, rank_in_job(number));
}

void Group::ring(int local) const {
    fabric_.progress().ring_on_host(locals_[static_cast<std::size_t>(local)].host_rank);
}

void Group::ring_others() const {
    for (int local = 0; local < host_size(); ++local)
        if (local != host_rank_) ring(local);
}

bool Group::report_difference(const Party& one, const Party& other) const {
    shm::Differing& differing = host_->differing;
    if (differing.teller.exchange(1, std::memory_order_relaxed) != 0) return false;
    const auto tell = [](shm::Differing::Party& there, const Party& party) {
        there.rank.store(party.rank, std::memory_order_relaxed);
        there.note.store(party.note, std::memory_order_relaxed);
    };
    tell(differing.party[0], one);
    tell(differing.party[1], other);
    differing.call.store(one.note >> 8, std::memory_order_release);
    for (int local = 0; local < host_size(); ++local) ring(local);
    return true;
}

} // namespace kumiki::fabric
