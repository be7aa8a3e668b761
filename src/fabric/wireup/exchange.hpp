#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "error/result.hpp"
#include "fabric/wireup/space.hpp"

namespace kumiki::fabric {

/// Rounds in which each rank sends all others some bytes, over a key-value space: as hexadecimal digits, since process
/// managers take text, and in pieces of the length that they take. The first piece begins with the number of pieces.
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
    /// What `rank` sent in this round. Fails when these are no bytes of ours.
    Result<std::string> told_by(int rank) const;
    /// One whole round: what all ranks sent, in the order of the ranks. Collective.
    Result<std::vector<std::string>> all(std::string_view own);

private:
    std::shared_ptr<KeyValueSpace> space_;
    int round_ = 0;
};

} // namespace kumiki::fabric
