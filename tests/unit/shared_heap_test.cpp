#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <thread>
#include <vector>

#include "support/shared_memory.hpp"
#include "support/watchdog.hpp"

// Blocks of shared memory that single threads allocate and free, with ranks that are threads of one process: over one
// memory, over copies per rank and, as TEST_HOSTS says, over two hosts.
namespace kumiki::dsm {
namespace {

using tests::Rank;
using tests::Watchdog;

enum class Form { one_memory, userfaultfd, protection };

class SharedHeapTest : public testing::TestWithParam<Form> {
protected:
    static constexpr std::uint64_t heap_bytes = std::uint64_t{6} << 20;

    template <class Body>
    void run(int ranks, Body body) {
        const auto with_root = [&](Rank& rank, SharedMemory& memory) {
            static_cast<void>(tests::allocate_shared<int>(memory, 1)); // the heap comes with the first array
            body(rank, memory);
        };
        if (GetParam() == Form::one_memory) tests::run_over_one_memory({.ranks = ranks}, with_root, heap_bytes);
        else
            tests::run_with_copies(GetParam() == Form::userfaultfd ? FaultMechanism::userfaultfd
                                                                   : FaultMechanism::protection,
                                   {.ranks = ranks}, with_root, SharedProtocol::invalidate, 0, false, heap_bytes);
    }
};

SharedHeap& heap_of(SharedMemory& memory) { return **memory.heap("test"); }

/// What a block contains: bytes that follow from its number.
std::uint8_t content(std::uint64_t tag, std::size_t at) {
    return static_cast<std::uint8_t>((tag * 0x9E3779B97F4A7C15 >> 24) + at * 7);
}

/// A place in a shared array for a block. Addresses differ between the ranks of a test, so it names bytes from the
/// heap's beginning.
struct Slot {
    std::uint64_t offset_and_one, bytes, tag;
};

/// What a thread does with blocks in places that it may use at the moment.
class User {
public:
    User(SharedMemory& memory, unsigned seed) : heap_(heap_of(memory)), random_(seed) {}

    std::uint64_t random(std::uint64_t below) { return random_() % below; }

    void use(Slot& slot) {
        if (slot.offset_and_one == 0) return fill(slot);
        check(slot);
        if (random(3) == 0) return; // it stays
        if (random(2) == 0) return write(slot, random_());
        const auto freed = heap_.release(address(slot));
        ASSERT_TRUE(freed) << freed.error().message;
        slot.offset_and_one = 0;
    }
    void check(const Slot& slot) {
        const std::uint8_t* const bytes = address(slot);
        for (std::size_t at = 0; at < slot.bytes; ++at)
            ASSERT_EQ(bytes[at], content(slot.tag, at)) << at << " of " << slot.bytes;
    }

private:
    std::uint8_t* address(const Slot& slot) {
        return reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(heap_.begin())) + slot.offset_and_one - 1;
    }
    void fill(Slot& slot) {
        const std::size_t bytes = 1 + random(random(6) == 0 ? 30000 : 200);
        const auto got = heap_.allocate(bytes);
        ASSERT_TRUE(got) << got.error().message;
        auto* const block = static_cast<std::uint8_t*>(*got);
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(block) % 16, 0u);
        for (std::size_t at = 0; at < bytes; ++at) ASSERT_EQ(block[at], 0) << at << " of " << bytes;
        slot.offset_and_one = static_cast<std::uint64_t>(static_cast<std::byte*>(*got) - heap_.begin()) + 1;
        slot.bytes = bytes;
        write(slot, random_());
    }
    void write(Slot& slot, std::uint64_t tag) {
        slot.tag = tag;
        std::uint8_t* const bytes = address(slot);
        for (std::size_t at = 0; at < slot.bytes; ++at) bytes[at] = content(tag, at);
    }

    SharedHeap& heap_;
    std::mt19937_64 random_;
};

void expect_apart(std::vector<Slot> slots) {
    std::erase_if(slots, [](const Slot& each) { return each.offset_and_one == 0; });
    std::ranges::sort(slots, {}, &Slot::offset_and_one);
    for (std::size_t at = 1; at < slots.size(); ++at)
        ASSERT_LE(slots[at - 1].offset_and_one + slots[at - 1].bytes, slots[at].offset_and_one);
}

// In each round each place has another rank, which finds there what others have stored, and frees what others have
// allocated.
TEST_P(SharedHeapTest, RandomlyBetweenBarriers) {
    const Watchdog watchdog("random use of the heap, with barriers", std::chrono::seconds(240));
    run(3, [](Rank& rank, SharedMemory& memory) {
        constexpr std::size_t places = 90;
        auto* const slots = tests::allocate_shared<Slot>(memory, places, Placement::cyclic);
        User user(memory, 17 + static_cast<unsigned>(rank.rank()));
        std::mt19937 order(5); // the same at all ranks
        for (int round = 0; round < 60; ++round) {
            for (std::size_t place = 0; place < places; ++place)
                if (order() % 3 == static_cast<unsigned>(rank.rank())) user.use(slots[place]);
            ASSERT_TRUE(memory.barrier());
        }
        for (std::size_t place = 0; place < places; ++place)
            if (slots[place].offset_and_one != 0) user.check(slots[place]);
        expect_apart({slots, slots + places});
        ASSERT_TRUE(memory.barrier());
    });
}

// Threads of all ranks use the places in any order, each under its lock; no barrier orders anything.
TEST_P(SharedHeapTest, RandomlyUnderLocks) {
    const Watchdog watchdog("random use of the heap, with locks", std::chrono::seconds(240));
    run(3, [](Rank& rank, SharedMemory& memory) {
        constexpr std::size_t places = 24;
        auto* const slots = tests::allocate_shared<Slot>(memory, places, Placement::block);
        ASSERT_TRUE(memory.barrier());
        Locks& locks = **memory.locks("test");
        std::vector<std::thread> threads;
        for (unsigned thread = 0; thread < 2; ++thread)
            threads.emplace_back([&, thread] {
                User user(memory, 100 * static_cast<unsigned>(rank.rank()) + thread);
                for (int round = 0; round < 150; ++round) {
                    const auto place = static_cast<std::size_t>(user.random(places));
                    ASSERT_TRUE(locks.acquire(static_cast<int>(place)));
                    user.use(slots[place]);
                    ASSERT_TRUE(locks.release(static_cast<int>(place)));
                }
            });
        for (auto& each : threads) each.join();
        ASSERT_TRUE(memory.barrier());
        User user(memory, 1);
        for (std::size_t place = 0; place < places; ++place)
            if (slots[place].offset_and_one != 0) user.check(slots[place]);
        expect_apart({slots, slots + places});
        ASSERT_TRUE(memory.barrier());
    });
}

// Blocks live with the rank that allocates them, also the second time, after another rank has freed them. So one that
// only allocates and one that only frees go on for ever.
TEST_P(SharedHeapTest, FreedBlocksReturnToTheirRank) {
    const Watchdog watchdog("freed blocks return");
    run(2, [](Rank& rank, SharedMemory& memory) {
        SharedHeap& heap = heap_of(memory);
        auto* const offset = tests::allocate_shared<std::uint64_t>(memory, 1);
        const std::size_t bytes = heap_bytes / 5; // two fit the part of a rank
        for (int round = 0; round < 12; ++round) {
            if (rank.rank() == 0) {
                const auto block = heap.allocate(bytes);
                ASSERT_TRUE(block) << round << ": " << block.error().message;
                ASSERT_EQ(memory.home(*block), 0);
                auto* const words = static_cast<std::uint32_t*>(*block);
                for (std::size_t at = 0; at < bytes / 4; at += 512) {
                    ASSERT_EQ(words[at], 0u) << round;
                    words[at] = static_cast<std::uint32_t>(round + 1);
                }
                *offset = static_cast<std::uint64_t>(static_cast<std::byte*>(*block) - heap.begin());
            }
            ASSERT_TRUE(memory.barrier());
            if (rank.rank() == 1) {
                auto* const block = const_cast<std::byte*>(heap.begin()) + *offset;
                auto* const words = reinterpret_cast<std::uint32_t*>(block);
                for (std::size_t at = 0; at < bytes / 4; at += 512) {
                    ASSERT_EQ(words[at], static_cast<std::uint32_t>(round + 1));
                    words[at] = 99; // must not reach the home after its next use has begun
                }
                ASSERT_TRUE(heap.release(block));
            }
            // This brings no changes to their homes: rank 1 still has its own when rank 0 allocates again.
            ASSERT_TRUE(rank.collectives.barrier());
        }
    });
}

TEST_P(SharedHeapTest, MistakesAreNamed) {
    run(2, [](Rank& rank, SharedMemory& memory) {
        SharedHeap& heap = heap_of(memory);
        const auto expect = [](const auto& result, const char* words) {
            ASSERT_FALSE(result) << words;
            EXPECT_NE(result.error().message.find(words), std::string::npos) << result.error().message;
        };
        expect(heap.allocate(0), "at least one byte");
        expect(heap.allocate(heap_bytes), "KUMIKI_SHARED_HEAP");
        expect(heap.allocate(~std::size_t{0}), "KUMIKI_SHARED_HEAP");
        ASSERT_TRUE(heap.release(nullptr));
        int local = 0;
        expect(heap.release(&local), "no memory of shared_malloc");
        auto* const block = static_cast<std::byte*>(*heap.allocate(100));
        expect(heap.release(block + 16), "not where a block begins");
        expect(heap.release(block + 5), "inside a block");
        ASSERT_TRUE(heap.release(block));
        expect(heap.release(block), "freed already");
        // Of the other rank.
        auto* const offsets = tests::allocate_shared<std::uint64_t>(memory, 2);
        offsets[rank.rank()] = static_cast<std::uint64_t>(static_cast<std::byte*>(*heap.allocate(5000)) - heap.begin());
        ASSERT_TRUE(memory.barrier());
        auto* const others = const_cast<std::byte*>(heap.begin()) + offsets[1 - rank.rank()];
        expect(heap.release(others + 32), "not where a block begins");
        ASSERT_TRUE(heap.release(others));
        expect(heap.release(others), "freed already");
        ASSERT_TRUE(memory.barrier());
        expect(heap.release(others), "freed already");
        ASSERT_TRUE(memory.barrier());
        // It is an array, but not one to release.
        expect(memory.release(const_cast<std::byte*>(heap.begin())), "shared_free");
    });
}

constexpr const char* form_names[] = {"OneMemory", "Userfaultfd", "Protection"};
INSTANTIATE_TEST_SUITE_P(Forms, SharedHeapTest, testing::Values(Form::one_memory, Form::userfaultfd, Form::protection),
                         [](const auto& form) { return form_names[static_cast<std::size_t>(form.param)]; });

} // namespace
} // namespace kumiki::dsm
