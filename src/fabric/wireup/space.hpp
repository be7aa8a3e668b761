#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "error/result.hpp"

namespace kumiki::fabric {

/// The service by which process managers let the ranks of a job find each other: each rank puts values that the others
/// can read after the next fence. Keys and values are printable text without spaces, `=` or `;`; a key must not be put
/// twice.
class KeyValueSpace {
public:
    virtual ~KeyValueSpace() = default;

    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// The length of the longest value, in characters.
    virtual std::size_t longest_value() const = 0;
    /// Whether this rank wrote the key before the last fence, in this process or in another that was the same rank.
    virtual bool has_written(std::string_view key) = 0;
    virtual Result<> put(std::string_view key, std::string_view value) = 0;
    /// All ranks call it before the first fence if they have finalized MPI. Where MPI_Finalize of one rank disturbs the
    /// fences of others, the ranks then wait for each other's keys instead; elsewhere it does nothing.
    virtual Result<> replace_fences() { return {}; }
    /// Waits until all ranks have called it; from then on, values that they put before can be read. Collective.
    virtual Result<> fence() = 0;
    /// Returns what `rank` put under the key before the last fence.
    virtual Result<std::string> get(int rank, std::string_view key) = 0;
    /// Asks the process manager to end all ranks, because this rank ends with this code while the others still need it.
    /// Does nothing where the process manager ends them by itself.
    virtual void abort(int code) { static_cast<void>(code); }
};

/// The function of kumiki-pmix.so, the module that stands between Kumiki and the PMIx library.
using OpenPmix = Result<std::unique_ptr<KeyValueSpace>> (*)();

} // namespace kumiki::fabric
