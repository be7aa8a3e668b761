#pragma once

#include "message/list.hpp"
#include "message/request.hpp"

namespace kumiki::message {

/// Matches messages with receives by the rules of MPI: a message goes to the earliest posted receive that matches it,
/// and a receive takes the earliest message that matches it, so messages from one rank with one tag keep their order.
/// Not thread-safe.
class Matching {
public:
    /// Returns the posted receive that gets a message that has arrived, and removes it from the list; returns null when
    /// the message is unexpected.
    Request* receive_for(int source, int tag) {
        for (Request* each = posted_.front(); each != nullptr; each = each->next)
            if (fits(each->rank, each->tag, source, tag)) {
                posted_.remove(*each);
                return each;
            }
        return nullptr;
    }
    void keep(Arrival& arrival) { arrivals_.push_back(arrival); }

    /// Returns the message that a receive with this source and tag (or `any`) would get, without removing it.
    Arrival* find(int source, int tag) const {
        for (Arrival* each = arrivals_.front(); each != nullptr; each = each->next)
            if (fits(source, tag, each->source, each->tag)) return each;
        return nullptr;
    }
    Arrival* first_arrival() const { return arrivals_.front(); }
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
