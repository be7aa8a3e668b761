#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>
#include <vector>

#include "openmp/ranks/code/real_updates.hpp"
#include "openmp/ranks/memory/image.hpp"

namespace kumiki::openmp {

/// What an instruction does: it changes memory, or is a fence; or it does so and may enter a lock of the program; or it
/// is the load of a loop that waits for a variable; or the one before which an update is made (RealUpdate::use), or the
/// load of that update where it is another one. An update that is made in the place of its compare-and-exchange is a
/// change.
enum class Use : std::uint8_t { changes, enters, waits, updates, loads };

/// An instruction of the program that is to be replaced by a call of the runtime.
struct Finding {
    std::byte* at;
    Use use;
    const std::byte* loop;            ///< the first instruction of the loop in which it waits; of others, itself
    std::optional<RealUpdate> update; ///< to which it belongs
};
static_assert(std::is_trivially_copyable_v<Finding>);

/// All of them, in the order of addresses; some are named twice. A search that takes long is kept in a file for the
/// next start of the program (SearchCache). Calls begins() before it searches.
std::vector<Finding> find_in(const Image& image, const std::function<void()>& begins = {});

} // namespace kumiki::openmp
