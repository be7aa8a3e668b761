#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "error/result.hpp"
#include "fabric/wireup/space.hpp"

namespace kumiki::fabric {

/// Rounds in which each rank sends some bytes to all others over a key-value space. The bytes are sent as hexadecimal
/// digits, because process managers accept only text, and in pieces of the length that they accept. The first piece
/// begins with the number of pieces.
class Exchange {
public:
    explicit Exchange(std::shared_ptr<KeyValueSpace> space) : space_(std::move(space)) {}

    int rank() const { return space_->rank(); }
    int size() const { return space_->size(); }
    /// Whether this rank, in this process or in an earlier one, has exchanged anything before: the process manager
    /// keeps it.
    bool is_spent() const;

    /// Begins a round: sends `own` and waits until all ranks have sent theirs. Collective.
    Result<> tell(std::string_view own);
    /// Returns the bytes that `rank` sent in this round. Fails when the text was not written by Kumiki.
    Result<std::string> told_by(int rank) const;
    /// Performs a whole round and returns the bytes of all ranks in rank order. Collective.
    Result<std::vector<std::string>> all(std::string_view own);

private:
    std::shared_ptr<KeyValueSpace> space_;
    int round_ = 0;
};

} // namespace kumiki::fabric
