#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "error/result.hpp"
#include "fabric/wireup/space.hpp"

namespace kumiki::fabric {

/// Rounds in which each rank tells all others some bytes, over a key-value space: as hexadecimal digits, since process
/// managers take text, in pieces that are as long as they take. The first piece begins with the number of pieces.
class Exchange {
public:
    explicit Exchange(std::shared_ptr<KeyValueSpace> space) : space_(std::move(space)) {}

    int rank() const { return space_->rank(); }
    int size() const { return space_->size(); }
    /// Whether this rank has exchanged anything before: the process manager remembers.
    bool is_spent() const;

    /// Begins a round: tells `own` and waits until all have told theirs. Collective.
    Result<> tell(std::string_view own);
    /// What `rank` told in this round. Fails when that are no bytes of ours.
    Result<std::string> told_by(int rank) const;
    /// One round: what all ranks told, in their order. Collective.
    Result<std::vector<std::string>> all(std::string_view own);

private:
    std::shared_ptr<KeyValueSpace> space_;
    int round_ = 0;
};

} // namespace kumiki::fabric
