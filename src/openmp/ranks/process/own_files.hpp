#pragma once

#include <cstddef>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "openmp/ranks/process/file_calls.hpp"

namespace kumiki::openmp {

/// The files of this process, as others read, move and close them. While another process has read a stream ahead, it
/// has a lease of it: the lock of the stream is held for it here, so that each call of the C library for the stream, in
/// whichever process, is made as a whole.
class OwnFiles {
public:
    /// The program begins: what is open now is none of its files, so that others do not close it.
    void begin();
    /// Whether a rank has a lease of the stream that it asks for: then nobody else has written to it since.
    bool has_lease(int rank, const FileCalls::Request& request) const {
        const auto lease = leases_.find(static_cast<std::size_t>(request.file));
        return request.is_stream && lease != leases_.end() && lease->second == rank;
    }
    /// Makes a call that another process asks for; one thread may call this. Returns nothing while the stream is in
    /// use.
    std::optional<FileCalls::Answer> make(int rank, const FileCalls::Request& request);

private:
    std::optional<FileCalls::Answer> call_for_stream(int rank, const FileCalls::Request& request);
    FileCalls::Answer call_for_locked(std::FILE* stream, const FileCalls::Request& request);
    void give_back(std::FILE* stream, std::size_t place, std::size_t bytes);

    FileCalls::Answer call_for_descriptor(int file, const FileCalls::Request& request) const;

    std::set<int> not_programs_;
    std::map<std::size_t, int> leases_;       ///< ranks, by place
    std::map<std::size_t, std::string> last_; ///< what was last read of streams, by place
};

} // namespace kumiki::openmp
