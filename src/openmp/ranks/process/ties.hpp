#pragma once

namespace kumiki::openmp {

/// The calling thread has got something that belongs to its process: a file, a thread, memory of the system or of a
/// library that is private. If it does so in a region, it may use it in later ones, which must run where it is
/// (OtherRanks::note_tie()).
void note_tie();

/// What the calling thread gets while it has one of these ties it to nothing.
class NoTies {
public:
    NoTies();
    ~NoTies();
    NoTies(const NoTies&) = delete;
    NoTies& operator=(const NoTies&) = delete;
};

} // namespace kumiki::openmp
