#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fabric/shm/segment.hpp"

namespace kumiki::fabric {

class Fabric;

/// A subset of the job's ranks in an order of its own, numbered from 0, called its members: their ranks, their hosts,
/// and the memory that members on one host share. The job is the first group. Immutable after construction.
class Group {
public:
    /// `block` is the index of the MemberBlock that the rank uses for this group; it is meaningful only on the rank's
    /// host.
    struct Member {
        int rank; ///< in the job
        int block;
    };
    static constexpr std::uint64_t job_id = 0;

    /// This rank must be one of the members. `id` is the same at all members, and unique among all groups that the job
    /// ever had.
    Group(Fabric& fabric, std::uint64_t id, const std::vector<Member>& members);
    /// Tells the members on this host that this rank no longer uses their blocks, and returns its own block.
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
    /// Converts a rank of the job into a number in the group; returns -1 when that rank is not a member.
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
    /// The member must be on this host.
    int local_rank(int number) const { return place(number).local; }
    shm::MemberBlock& block(int local) const { return *locals_[static_cast<std::size_t>(local)].block; }
    shm::MemberBlock& own() const { return *own_; }
    shm::HostBlock& host() const { return *host_; }
    std::byte* arena(int local) const { return locals_[static_cast<std::size_t>(local)].arena; }
    /// Wakes that member's threads. Call it after making a condition true for which they may wait.
    void ring(int local) const;
    void ring_others() const;

    // -- the members' hosts, ordered by their first member, which is the leader of the members on its host --

    int hosts() const { return static_cast<int>(leaders_.size()); }
    int own_host() const { return own_host_; }
    int host_of(int number) const { return place(number).host; }
    int leader(int host) const { return leaders_[static_cast<std::size_t>(host)]; }
    bool leads() const { return host_rank_ == 0; }
    bool on_one_host() const { return hosts() == 1; }

    // -- ranks whose collective calls differ, so that they would wait for each other forever --

    /// Tells the members on this host that the calls of these two ranks differ. Returns false when such a pair has been
    /// reported already.
    struct Party {
        int rank; ///< in the job
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
        int host_rank; ///< number among all ranks of the job on this host
        shm::MemberBlock* block;
        std::byte* arena;
    };
    const Place& place(int number) const { return places_[static_cast<std::size_t>(number)]; }

    Fabric& fabric_;
    int block_ = 0; ///< index of this rank's block
    std::uint64_t id_;
    int rank_ = -1, host_rank_ = -1, own_host_ = -1;
    std::vector<Place> places_; ///< by number
    std::vector<Local> locals_; ///< by number on this host
    std::vector<int> leaders_;  ///< by host
    shm::MemberBlock* own_ = nullptr;
    shm::HostBlock* host_ = nullptr;
};

} // namespace kumiki::fabric
