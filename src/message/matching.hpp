#pragma once

#include "message/list.hpp"
#include "message/request.hpp"

namespace kumiki::message {

/// Which receive gets which message, by the rules of MPI: a message goes to the earliest posted receive that fits it, a
/// receive takes the earliest message that fits it; so messages of one rank with one tag keep their order. Not
/// thread-safe.
class Matching {
public:
    /// A message has come: the receive that gets it, taken off the list; null: nobody has asked for it.
    Request* receive_for(int source, int tag) {
        for (Request* each = posted_.front(); each != nullptr; each = each->next)
            if (fits(each->rank, each->tag, source, tag)) {
                posted_.remove(*each);
                return each;
            }
        return nullptr;
    }
    void keep(Arrival& arrival) { arrivals_.push_back(arrival); }

    /// The message that a receive with this source and this tag (or `any`) would get; it stays.
    Arrival* find(int source, int tag) const {
        for (Arrival* each = arrivals_.front(); each != nullptr; each = each->next)
            if (fits(source, tag, each->source, each->tag)) return each;
        return nullptr;
    }
    std::size_t arrivals() const {
        std::size_t count = 0;
        for (const Arrival* each = arrivals_.front(); each != nullptr; each = each->next) ++count;
        return count;
    }
    void take(Arrival& arrival) { arrivals_.remove(arrival); }
    void post(Request& receive) { posted_.push_back(receive); }

private:
    static bool fits(int wanted_source, int wanted_tag, int source, int tag) {
        return (wanted_source == source || wanted_source == any) && (wanted_tag == tag || wanted_tag == any);
    }
    List<Request> posted_;
    List<Arrival> arrivals_;
};

} // namespace kumiki::message
