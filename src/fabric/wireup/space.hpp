#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "error/result.hpp"

namespace kumiki::fabric {

/// What process managers offer to the ranks of a job so that they find each other: a place to write values that the
/// others can read after the next fence. Keys and values are printable text without spaces, `=` or `;`; no key is
/// written twice.
class KeyValueSpace {
public:
    virtual ~KeyValueSpace() = default;

    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// Characters of the longest value.
    virtual std::size_t longest_value() const = 0;
    /// Whether this rank wrote the key before the last fence, in this process or in another that was the same rank.
    virtual bool has_written(std::string_view key) = 0;
    virtual Result<> put(std::string_view key, std::string_view value) = 0;
    /// Waits until all ranks are here; from then on what they put before can be read. Collective.
    virtual Result<> fence() = 0;
    /// What `rank` put under the key before the last fence.
    virtual Result<std::string> get(int rank, std::string_view key) = 0;
    /// Asks for the end of all ranks, for a rank that ends with this code while the others need it. Nothing where the
    /// process manager does that by itself.
    virtual void abort(int code) { static_cast<void>(code); }
};

/// The function of kumiki-pmix.so, the module that stands between Kumiki and the PMIx library.
using OpenPmix = Result<std::unique_ptr<KeyValueSpace>> (*)();

} // namespace kumiki::fabric
