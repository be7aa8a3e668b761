#pragma once

#include <cstddef>
#include <span>

#include "kumiki/elements.hpp"
#include "kumiki/type.hpp"

namespace kumiki {

/// `count` zeroed elements of T at every rank. Construction and destruction are collective. While an exception
/// propagates, the destructor does nothing and the region lives until the end of the job, because ranks without an
/// exception would not join in the release.
///
/// An address inside this rank's copy of the region names the same place at every rank (COMPaS paper, 3.1: "the user
/// names a remote address in the same way as a local one").
template <Transferable T>
class Region : public detail::Elements<T, kumiki_release> {
public:
    Region(kumiki_job* job, std::size_t count)
        : detail::Elements<T, kumiki_release>(job, count, "region", [job](std::size_t bytes, void** memory) {
              return kumiki_allocate(job, bytes, memory);
          }) {}

    /// Returns rank `rank`'s copy of this region for direct loads and stores, or an empty span when that rank is on
    /// another host.
    std::span<T> at(int rank) const {
        void* there = nullptr;
        detail::check(kumiki_peer(this->job(), rank, this->data(), &there));
        return there == nullptr ? std::span<T>{} : std::span<T>{static_cast<T*>(there), this->size()};
    }
};

} // namespace kumiki
