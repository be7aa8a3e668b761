#include "openmp/reduction.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <new>
#include <unordered_map>

#include "openmp/team.hpp"

namespace kumiki::openmp {
namespace {

using Word = std::uintptr_t;

/// The words of a description.
struct Description {
    enum : std::size_t { variables = 0, bytes = 1, copies = 2, next = 4, index = 5, end = 6, head = 7 };
    enum : std::size_t { address = 0, offset = 1, owner = 2, length = 3 };

    Word* words;

    Word& operator[](std::size_t place) const { return words[place]; }
    Word* variable(std::size_t number) const { return words + head + number * length; }
    Word* following() const { return reinterpret_cast<Word*>(words[next]); }
};

using Index = std::unordered_map<Word, Word*>; ///< from the address of a variable to its words

Index* index_of(Word* description) {
    return description == nullptr ? nullptr : reinterpret_cast<Index*>(description[Description::index]);
}

std::size_t alignment_of(const Description& description) {
    return std::max<std::size_t>(description[Description::copies], sizeof(void*));
}

std::size_t aligned(std::size_t bytes, std::size_t alignment) {
    return (bytes + alignment - 1) / alignment * alignment;
}

/// The variable whose copies contain `address`; its description is sought along the chain.
Word* variable_at(Word* description, Word address) {
    for (Description each{description}; each.words != nullptr; each.words = each.following()) {
        if (address < each[Description::copies] || address >= each[Description::end]) continue;
        const Word offset = (address - each[Description::copies]) % each[Description::bytes];
        for (std::size_t i = 0; i < each[Description::variables]; ++i)
            if (each.variable(i)[Description::offset] == offset) return each.variable(i);
    }
    return nullptr;
}

} // namespace

std::size_t bytes_of_copies(const Word* description, int threads) {
    std::size_t bytes = 0;
    for (Description each{const_cast<Word*>(description)}; each.words != nullptr; each.words = each.following())
        bytes += each[Description::bytes] * static_cast<std::size_t>(threads) + alignment_of(each);
    return bytes;
}

void* allocate_copies(const Word* description, int threads) {
    const std::size_t alignment = alignment_of(Description{const_cast<Word*>(description)});
    const std::size_t bytes = aligned(bytes_of_copies(description, threads), alignment);
    void* const memory = std::aligned_alloc(alignment, bytes);
    if (memory == nullptr) refuse(fmt::format("there is no memory for the {} bytes of a task reduction", bytes));
    return std::memset(memory, 0, bytes);
}

void register_reductions(Word* description, Word* outer, int threads, void* copies) {
    auto place = reinterpret_cast<Word>(copies);
    auto* const index = index_of(outer) == nullptr ? new Index : new Index(*index_of(outer));
    const auto is_last = [](const Description& each) { return each[Description::next] == 0; };
    for (Description each{description};; each.words = each.following()) {
        place = aligned(place, alignment_of(each));
        each[Description::copies] = place;
        each[Description::end] = place += each[Description::bytes] * static_cast<std::size_t>(threads);
        for (std::size_t i = 0; i < each[Description::variables]; ++i) {
            each.variable(i)[Description::owner] = reinterpret_cast<Word>(each.words);
            (*index)[each.variable(i)[Description::address]] = each.variable(i);
        }
        if (!is_last(each)) continue;
        each[Description::next] = reinterpret_cast<Word>(outer);
        break;
    }
    description[Description::index] = reinterpret_cast<Word>(index);
}

void forget_reductions(Word* description) { delete index_of(description); }

void unregister_reductions(Word* description) {
    forget_reductions(description);
    std::free(reinterpret_cast<void*>(description[Description::copies]));
}

void find_copies(const Member& me, std::size_t count, std::size_t originals, void** addresses) {
    Word* const description = me.task->group == nullptr ? nullptr : me.task->group->reductions;
    for (std::size_t i = 0; i < count; ++i) {
        const Word address = reinterpret_cast<Word>(addresses[i]);
        Word* variable = nullptr;
        if (description != nullptr) {
            const auto found = index_of(description)->find(address);
            variable = found != index_of(description)->end() ? found->second : variable_at(description, address);
        }
        if (variable == nullptr)
            refuse(fmt::format("a task takes part in a reduction of the variable at {}, and no enclosing construct has "
                               "a reduction of it with task_reduction or the modifier task",
                               addresses[i]));
        const Description owner{reinterpret_cast<Word*>(variable[Description::owner])};
        addresses[i] =
            reinterpret_cast<void*>(owner[Description::copies] + static_cast<Word>(me.id) * owner[Description::bytes] +
                                    variable[Description::offset]);
        if (i < originals) addresses[count + i] = reinterpret_cast<void*>(variable[Description::address]);
    }
}

} // namespace kumiki::openmp
