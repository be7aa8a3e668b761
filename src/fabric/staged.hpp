#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "platform/fault_signals.hpp"

namespace kumiki::fabric {

/// The data of a transfer over the network, which are read and written with the network's lock held, and by the kernel.
/// Neither may touch memory whose pages have to be fetched first (shared arrays): the thread that fetches them needs
/// that lock, and a system call fails. Such data are copied, before the transfer begins or after it has ended, by a
/// thread that holds no lock (docs/decisions/staged-transfers.md). All other data stay where they are.
template <class Byte>
class Staged {
public:
    /// For a transfer that reads (Byte is const) or writes `program`, which is the program's memory.
    explicit Staged(std::span<Byte> program) : program_(program), data_(program) {
        if (!platform::may_fault(program)) [[likely]]
            return;
        copy_ = std::make_unique_for_overwrite<std::byte[]>(program.size());
        if constexpr (std::is_const_v<Byte>) std::ranges::copy(program, copy_.get());
        data_ = {copy_.get(), program.size()};
    }
    /// What the transfer uses; valid as long as this object.
    std::span<Byte> data() const { return data_; }
    /// Ends a transfer that has written the first `bytes` bytes of data().
    void finish(std::size_t bytes) const {
        if (copy_ != nullptr) std::copy_n(copy_.get(), bytes, program_.data());
    }
    /// The copy, for an owner that lives as long as a non-blocking transfer; null when data() is the program's memory.
    std::unique_ptr<std::byte[]> take() { return std::move(copy_); }

private:
    std::unique_ptr<std::byte[]> copy_;
    std::span<Byte> program_, data_;
};

using StagedSource = Staged<const std::byte>;
using StagedDestination = Staged<std::byte>;

} // namespace kumiki::fabric
