#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fabric/shm/segment.hpp"

namespace kumiki::fabric {

class Fabric;

/// Some ranks of the job in an order of their own, the members, numbered from 0: who they are, where they are, and the
/// memory that those of one host share. The job is the first group. Constant after its construction.
class Group {
public:
    /// `block` is which of its MemberBlocks the rank has given to this group; of use on its own host only.
    struct Member {
        int rank; ///< of the job
        int block;
    };
    static constexpr std::uint64_t job_id = 0;

    /// This rank is one of the members. `id` is the same at all of them, and no other group of the job has or had it.
    Group(Fabric& fabric, std::uint64_t id, const std::vector<Member>& members);
    /// Tells the members on this host that this one uses their blocks no more, and gives back its own.
    ~Group();
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;

    std::uint64_t id() const { return id_; }
    bool is_job() const { return id_ == job_id; }
    Fabric& fabric() const { return fabric_; }
    int rank() const { return rank_; }
    int size() const { return static_cast<int>(places_.size()); }
    bool has_rank(int number) const { return number >= 0 && number < size(); }
    int rank_in_job(int number) const { return place(number).rank; }
    /// The other way round; -1: that rank is no member.
    int number_of(int rank_in_job) const;
    /// "rank 3", or "rank 1 of the group (rank 3 of the job)".
    std::string describe(int number) const;
    /// "the job" or "the group".
    const char* what() const { return is_job() ? "the job" : "the group"; }

    // -- the members on this host, in the order of their numbers --

    int host_rank() const { return host_rank_; }
    int host_size() const { return static_cast<int>(locals_.size()); }
    int number_on_host(int local) const { return locals_[static_cast<std::size_t>(local)].number; }
    bool here(int number) const { return place(number).host == own_host_; }
    /// For a member on this host.
    int local_rank(int number) const { return place(number).local; }
    shm::MemberBlock& block(int local) const { return *locals_[static_cast<std::size_t>(local)].block; }
    shm::MemberBlock& own() const { return *own_; }
    shm::HostBlock& host() const { return *host_; }
    std::byte* arena(int local) const { return locals_[static_cast<std::size_t>(local)].arena; }
    /// After making something true that a thread of that member may wait for.
    void ring(int local) const;
    void ring_others() const;

    // -- the hosts that they are on, numbered by their first member, who leads the host's members --

    int hosts() const { return static_cast<int>(leaders_.size()); }
    int own_host() const { return own_host_; }
    int host_of(int number) const { return place(number).host; }
    int leader(int host) const { return leaders_[static_cast<std::size_t>(host)]; }
    bool leads() const { return host_rank_ == 0; }
    bool on_one_host() const { return hosts() == 1; }

    // -- ranks that wait for each other in vain --

    /// Tells the members on this host that these two do; false: of such two they have been told.
    struct Party {
        int rank; ///< of the job
        shm::CallNote note;
    };
    bool report_difference(const Party& one, const Party& other) const;
    Party self() const { return {rank_in_job(rank_), own_->call.load(std::memory_order_relaxed)}; }

private:
    struct Place {
        int rank, host, local;
    };
    struct Local {
        int number;
        int host_rank; ///< among all ranks of the job on this host
        shm::MemberBlock* block;
        std::byte* arena;
    };
    const Place& place(int number) const { return places_[static_cast<std::size_t>(number)]; }

    Fabric& fabric_;
    int block_ = 0; ///< of this rank's
    std::uint64_t id_;
    int rank_ = -1, host_rank_ = -1, own_host_ = -1;
    std::vector<Place> places_; ///< by number
    std::vector<Local> locals_; ///< by number on this host
    std::vector<int> leaders_;  ///< by host
    shm::MemberBlock* own_ = nullptr;
    shm::HostBlock* host_ = nullptr;
};

} // namespace kumiki::fabric
