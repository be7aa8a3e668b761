#pragma once

#include <cstddef>

#include "error/result.hpp"
#include "fabric/shm/layout.hpp"
#include "platform/memory.hpp"

namespace kumiki::fabric::shm {

/// The memory that the ranks of one host share, mapped into this process. The launcher creates it, the ranks adopt it.
class Segment {
public:
    /// Creates the memory for `ranks` ranks, each with `arena_bytes` of address space for its regions (0: the size of
    /// the host's memory).
    static Result<Segment> create(int ranks, std::size_t arena_bytes);
    /// Maps the memory behind an inherited descriptor; fails when it holds no segment of this version for `ranks`
    /// ranks.
    static Result<Segment> adopt(int descriptor, int ranks);

    int descriptor() const { return file_.descriptor(); }
    Header& header() const { return *reinterpret_cast<Header*>(mapping_.data()); }
    int ranks() const { return static_cast<int>(header().ranks); }
    RankBlock& block(int rank) const { return reinterpret_cast<RankBlock*>(mapping_.data() + sizeof(Header))[rank]; }
    /// The channel for messages from one rank of the host to another.
    Channel& channel(int from, int to) const {
        return reinterpret_cast<Channel*>(mapping_.data() + channel_offset(header().ranks))[to * ranks() + from];
    }
    std::size_t arena_bytes() const { return header().arena_bytes; }
    std::byte* arena(int rank) const {
        return mapping_.data() + arena_offset(header().ranks) + static_cast<std::size_t>(rank) * header().arena_bytes;
    }

private:
    Segment(platform::SharedFile file, platform::Mapping mapping)
        : file_(std::move(file)), mapping_(std::move(mapping)) {}
    platform::SharedFile file_;
    platform::Mapping mapping_;
};

} // namespace kumiki::fabric::shm
