#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kumiki/error.hpp"
#include "kumiki/type.hpp"

namespace kumiki {

class Group;

/// The collective operations of a group: of the job, which is the first group (Job), or of a subset of its ranks
/// (Group). Every rank of the group makes the same calls in the same order, from one thread at a time; other groups may
/// run other collectives meanwhile. Ranks and roots are numbers in the group.
class Collectives {
public:
    int rank() const noexcept { return kumiki_group_rank(group_); }
    int size() const noexcept { return kumiki_group_size(group_); }
    kumiki_group* group() const noexcept { return group_; }

    /// Makes one new group for each colour, consisting of the ranks that pass it, ordered by key and then by rank in
    /// this group. Returns nothing at a rank whose colour is negative.
    std::optional<Group> split(int colour, int key = 0);
    /// Makes the group of the listed ranks (numbers in this group), in the order of the list. All ranks in a list pass
    /// the same list. Returns nothing at a rank that is not in the list that it passes.
    std::optional<Group> subgroup(std::span<const int> ranks);

    void barrier() { detail::check(kumiki_group_barrier(group_)); }
    /// Split-phase barrier: enter, compute, wait.
    void barrier_enter() { detail::check(kumiki_group_barrier_enter(group_)); }
    void barrier_wait() { detail::check(kumiki_group_barrier_wait(group_)); }

    template <Elements Data>
    void broadcast(Data&& data, int root) {
        const std::span bytes = std::as_writable_bytes(std::span(data));
        detail::check(kumiki_group_broadcast(group_, bytes.data(), bytes.size(), root));
    }
    template <Single T>
    void broadcast(T& value, int root) {
        broadcast(std::span<T>(&value, 1), root);
    }

    /// Leaves the combined elements in `data` at `root`; `data` is unchanged at the other ranks.
    template <ReducibleElements Data>
    void reduce(Data&& data, Operation operation, int root) {
        const std::span all(data);
        detail::check(kumiki_group_reduce(group_, all.data(), all.data(), all.size(),
                                          detail::type_of<std::ranges::range_value_t<Data>>(), detail::code(operation),
                                          root));
    }
    /// Returns the combined value at `root`, and `value` elsewhere.
    template <Reducible T>
    T reduce(T value, Operation operation, int root) {
        reduce(std::span<T>(&value, 1), operation, root);
        return value;
    }
    template <ReducibleElements Data>
    void all_reduce(Data&& data, Operation operation) {
        const std::span all(data);
        detail::check(kumiki_group_all_reduce(group_, all.data(), all.data(), all.size(),
                                              detail::type_of<std::ranges::range_value_t<Data>>(),
                                              detail::code(operation)));
    }
    template <Reducible T>
    T all_reduce(T value, Operation operation) {
        all_reduce(std::span<T>(&value, 1), operation);
        return value;
    }

    /// Sends the r-th of size() equal pieces of `input` to rank r.
    template <Elements Input, ElementsLike<Input> Output>
    void all_to_all(const Input& input, Output&& output) {
        const std::span in = std::as_bytes(std::span(input));
        const std::span out = std::as_writable_bytes(std::span(output));
        const auto ranks = static_cast<std::size_t>(size());
        if (in.size() != out.size() || std::ranges::size(input) % ranks != 0)
            throw Error(KUMIKI_ERROR_ARGUMENT, "all_to_all: input has " + std::to_string(std::ranges::size(input)) +
                                                   " elements and output " + std::to_string(std::ranges::size(output)) +
                                                   "; both must be the same multiple of the " + std::to_string(size()) +
                                                   " ranks");
        detail::check(kumiki_group_all_to_all(group_, in.data(), out.data(), in.size() / ranks));
    }
    /// Sends input_counts[r] elements to rank r and receives output_counts[r] elements from rank r. The pieces follow
    /// each other without gaps in rank order.
    template <Elements Input, ElementsLike<Input> Output>
    void all_to_all_v(const Input& input, std::span<const std::size_t> input_counts, Output&& output,
                      std::span<const std::size_t> output_counts) {
        constexpr std::size_t element = sizeof(std::ranges::range_value_t<Input>);
        const Layout in = layout("all_to_all_v", "input", input_counts, std::ranges::size(input), element);
        const Layout out = layout("all_to_all_v", "output", output_counts, std::ranges::size(output), element);
        detail::check(kumiki_group_all_to_all_v(group_, std::ranges::data(input), in.bytes.data(), in.offsets.data(),
                                                std::ranges::data(output), out.bytes.data(), out.offsets.data()));
    }

    /// Collects every rank's `input` in `output`, in rank order; all inputs have the same length.
    template <Elements Input, ElementsLike<Input> Output>
    void all_gather(const Input& input, Output&& output) {
        expect_pieces("all_gather", "output", std::ranges::size(output), "input", std::ranges::size(input));
        const std::span in = std::as_bytes(std::span(input));
        detail::check(kumiki_group_all_gather(group_, in.data(), in.size(), std::ranges::data(output)));
    }
    /// Returns the value of each rank.
    template <Listable T>
    std::vector<T> all_gather(const T& value) {
        std::vector<T> all(static_cast<std::size_t>(size()));
        all_gather(std::span<const T>(&value, 1), all);
        return all;
    }
    /// The same with counts[r] elements from rank r.
    template <Elements Input, ElementsLike<Input> Output>
    void all_gather_v(const Input& input, Output&& output, std::span<const std::size_t> counts) {
        const std::span in = std::as_bytes(std::span(input));
        const Layout out = layout("all_gather_v", "output", counts, std::ranges::size(output),
                                  sizeof(std::ranges::range_value_t<Input>));
        detail::check(kumiki_group_all_gather_v(group_, in.data(), in.size(), std::ranges::data(output),
                                                out.bytes.data(), out.offsets.data()));
    }

    /// Collects every rank's `input` in the root's `output`, in rank order; at other ranks `output` may be empty.
    template <Elements Input, ElementsLike<Input> Output>
    void gather(const Input& input, Output&& output, int root) {
        if (rank() == root)
            expect_pieces("gather", "output", std::ranges::size(output), "input", std::ranges::size(input));
        const std::span in = std::as_bytes(std::span(input));
        detail::check(kumiki_group_gather(group_, in.data(), in.size(), std::ranges::data(output), root));
    }
    /// Returns the value of each rank at the root, and an empty vector at other ranks.
    template <Listable T>
    std::vector<T> gather(const T& value, int root) {
        std::vector<T> all(rank() == root ? static_cast<std::size_t>(size()) : 0);
        gather(std::span<const T>(&value, 1), all, root);
        return all;
    }
    /// The same with counts[r] elements from rank r; `output` and `counts` are used only at the root.
    template <Elements Input, ElementsLike<Input> Output>
    void gather_v(const Input& input, Output&& output, std::span<const std::size_t> counts, int root) {
        const std::span in = std::as_bytes(std::span(input));
        const Layout out = rank() == root ? layout("gather_v", "output", counts, std::ranges::size(output),
                                                   sizeof(std::ranges::range_value_t<Input>))
                                          : Layout{};
        detail::check(kumiki_group_gather_v(group_, in.data(), in.size(), std::ranges::data(output), out.bytes.data(),
                                            out.offsets.data(), root));
    }

    /// Gives each rank its piece of the root's `input`; a piece is as long as `output`. At other ranks `input` may be
    /// empty.
    template <Elements Input, ElementsLike<Input> Output>
    void scatter(const Input& input, Output&& output, int root) {
        if (rank() == root)
            expect_pieces("scatter", "input", std::ranges::size(input), "output", std::ranges::size(output));
        const std::span out = std::as_writable_bytes(std::span(output));
        detail::check(kumiki_group_scatter(group_, std::ranges::data(input), out.data(), out.size(), root));
    }
    /// The same with counts[r] elements to rank r; `input` and `counts` are used only at the root.
    template <Elements Input, ElementsLike<Input> Output>
    void scatter_v(const Input& input, std::span<const std::size_t> counts, Output&& output, int root) {
        const std::span out = std::as_writable_bytes(std::span(output));
        const Layout in = rank() == root ? layout("scatter_v", "input", counts, std::ranges::size(input),
                                                  sizeof(std::ranges::range_value_t<Input>))
                                         : Layout{};
        detail::check(kumiki_group_scatter_v(group_, std::ranges::data(input), in.bytes.data(), in.offsets.data(),
                                             out.data(), out.size(), root));
    }

    /// Inclusive scan: leaves in `data` the elementwise combination of the data of rank 0 up to this rank.
    template <ReducibleElements Data>
    void scan(Data&& data, Operation operation) {
        const std::span all(data);
        detail::check(kumiki_group_scan(group_, all.data(), all.data(), all.size(),
                                        detail::type_of<std::ranges::range_value_t<Data>>(), detail::code(operation)));
    }
    template <Reducible T>
    T scan(T value, Operation operation) {
        scan(std::span<T>(&value, 1), operation);
        return value;
    }

    /// Combines all ranks' inputs elementwise and gives each rank its piece. `input` has size() times as many elements
    /// as `output`.
    template <ReducibleElements Input, ElementsLike<Input> Output>
    void reduce_scatter(const Input& input, Output&& output, Operation operation) {
        expect_pieces("reduce_scatter", "input", std::ranges::size(input), "output", std::ranges::size(output));
        detail::check(kumiki_group_reduce_scatter(
            group_, std::ranges::data(input), std::ranges::data(output), std::ranges::size(output),
            detail::type_of<std::ranges::range_value_t<Input>>(), detail::code(operation)));
    }
    /// The same with counts[r] elements to rank r.
    template <ReducibleElements Input, ElementsLike<Input> Output>
    void reduce_scatter_v(const Input& input, std::span<const std::size_t> counts, Output&& output,
                          Operation operation) {
        static_cast<void>(layout("reduce_scatter_v", "input", counts, std::ranges::size(input), 1));
        const std::size_t own = counts[static_cast<std::size_t>(rank())];
        if (std::ranges::size(output) < own)
            throw Error(KUMIKI_ERROR_ARGUMENT, "reduce_scatter_v: this rank gets " + std::to_string(own) +
                                                   " elements, but output has " +
                                                   std::to_string(std::ranges::size(output)));
        detail::check(kumiki_group_reduce_scatter_v(group_, std::ranges::data(input), std::ranges::data(output),
                                                    counts.data(), detail::type_of<std::ranges::range_value_t<Input>>(),
                                                    detail::code(operation)));
    }

protected:
    explicit Collectives(kumiki_group* group = nullptr) noexcept : group_(group) {}
    Collectives(const Collectives&) = delete;
    Collectives& operator=(const Collectives&) = delete;
    ~Collectives() = default;

    kumiki_group* group_;

private:
    struct Layout {
        std::vector<std::size_t> bytes, offsets;
    };

    /// Computes lengths and offsets in bytes of pieces that follow each other without gaps.
    Layout layout(const std::string& operation, const std::string& name, std::span<const std::size_t> counts,
                  std::size_t available, std::size_t element) const {
        if (counts.size() != static_cast<std::size_t>(size()))
            throw Error(KUMIKI_ERROR_ARGUMENT,
                        operation + ": the counts of " + name + " have " + std::to_string(counts.size()) +
                            " entries; give one for each of the " + std::to_string(size()) + " ranks");
        Layout made;
        std::size_t total = 0;
        for (const std::size_t count : counts) {
            made.bytes.push_back(count * element);
            made.offsets.push_back(total * element);
            total += count;
        }
        if (total > available)
            throw Error(KUMIKI_ERROR_ARGUMENT, operation + ": the counts of " + name + " add up to " +
                                                   std::to_string(total) + " elements, but " + name + " has " +
                                                   std::to_string(available));
        return made;
    }

    /// Throws unless `whole` has size() times as many elements as `piece`.
    void expect_pieces(const std::string& operation, const std::string& whole, std::size_t elements,
                       const std::string& piece, std::size_t each) const {
        if (elements == each * static_cast<std::size_t>(size())) return;
        throw Error(KUMIKI_ERROR_ARGUMENT, operation + ": " + whole + " has " + std::to_string(elements) +
                                               " elements and " + piece + " " + std::to_string(each) + "; " + whole +
                                               " must have " + std::to_string(size()) +
                                               " times as many, one piece for "
                                               "each rank");
    }
};

} // namespace kumiki
