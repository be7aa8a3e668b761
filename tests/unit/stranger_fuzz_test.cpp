// How a rank reacts to messages that contain its key but are otherwise malformed: a faulty rank of the job sends a
// million of them while the others work.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

#include "face/job.hpp"
#include "kumiki/kumiki.h"
#include "support/build.hpp"
#include "support/jobs.hpp"
#include "support/random.hpp"
#include "support/watchdog.hpp"

namespace kumiki::fabric {
namespace {

using tests::Random;

constexpr int victim = 0, partner = 1, madman = 2;

/// Two regions of every rank, separate from each other, with a length that is not a multiple of a page: the working
/// ranks use one of them, and the contents of the other are undefined.
constexpr std::size_t region_bytes = 9000;
/// Of the memory that a receive has, and of what lies behind it, which nothing may reach.
constexpr std::size_t inbox_bytes = 500, behind_inbox = 1500;
struct Regions {
    std::uint64_t used = 0, open = 0; ///< their offsets
};

/// Makes messages with one or several wrong fields, or even correct ones; only operations on the others' work that a
/// rank could perform in good faith are left out.
class Madness {
public:
    Madness(Regions regions, std::uint64_t seed) : regions_(regions), random_(seed) {}

    MessageHeader header(std::size_t payload) {
        MessageHeader made;
        do made = random_.once_in(3) ? to_receives(payload) : any(payload);
        while (is_honest_harm(made, payload));
        return made;
    }
    std::size_t length() { return random_.once_in(3) ? 0 : random_.between<std::size_t>(0, 600); }
    Random& random() { return random_; }

private:
    MessageHeader any(std::size_t payload) {
        MessageHeader made;
        made.kind = static_cast<MessageKind>(random_.once_in(20) ? random_.between(0, 255) : random_.between(0, 18));
        made.operation =
            random_.once_in(10) ? static_cast<std::uint8_t>(random_.word()) : random_.between<std::uint8_t>(0, 8);
        if (random_.once_in(4)) made.operation = MessageHeader::no_signal;
        made.sink = random_.once_in(20) ? static_cast<SinkId>(random_.word()) : SinkId::messages;
        made.source = random_.once_in(10) ? static_cast<std::int32_t>(random_.word()) : madman;
        if (random_.once_in(20)) made.source = random_.between(-1, 4);
        made.offset = number(payload);
        made.bytes = random_.once_in(2) ? payload : number(payload);
        made.signal = number(payload);
        made.value = number(payload);
        made.ticket = number(payload);
        return made;
    }

    /// A step of a message between sends and receives that is nearly correct, so that it is not refused at once:
    /// announced, and its fragments placed.
    MessageHeader to_receives(std::size_t payload) {
        MessageHeader made;
        made.kind = MessageKind::message;
        made.operation = random_.between<std::uint8_t>(0, 7);
        made.source = madman;
        made.ticket = random_.between<std::uint64_t>(1, 3) << 32 | random_.between<std::uint64_t>(0, 70);
        made.value = random_.once_in(3) ? number(payload) : random_.between<std::uint64_t>(0, 63); // usually a tag
        made.offset = random_.once_in(2) ? 0 : random_.between<std::uint64_t>(0, inbox_bytes + 100);
        made.bytes = random_.once_in(2) ? payload : random_.between<std::uint64_t>(0, inbox_bytes + behind_inbox);
        return made;
    }

    /// Numbers near which errors are likely.
    std::uint64_t number(std::size_t payload) {
        const auto near = [&](std::uint64_t middle) { return middle + random_.between(-16, 16); };
        switch (random_.between(0, 9)) {
        case 0: return random_.word();
        case 1: return near(0);
        case 2: return near(regions_.open + region_bytes - payload);
        case 3: return near(regions_.open);
        case 4: return regions_.open + 8 * random_.between<std::uint64_t>(0, region_bytes / 8);
        case 5: return near(std::uint64_t{1} << random_.between(3, 63));
        case 6: return near(payload);
        case 7: return random_.between<std::uint64_t>(0, 64);
        case 8: return random_.between<std::uint64_t>(1, 3) << 32 | random_.between<std::uint64_t>(0, 15); // a ticket
        default: return 8 * random_.between<std::uint64_t>(0, 200);
        }
    }

    /// Messages that cannot be distinguished from correct ones: those in the name of the partner, those that change
    /// what the others use, and those of barriers and collectives out of turn.
    bool is_honest_harm(const MessageHeader& made, std::size_t payload) const {
        const auto is_used = [&](std::uint64_t offset, std::size_t bytes) {
            return offset < regions_.used + region_bytes && offset + bytes > regions_.used;
        };
        if (made.source == partner) return true;
        switch (made.kind) {
        case MessageKind::put: return is_used(made.offset, payload) || is_used(made.signal, 8);
        case MessageKind::atomic: return is_used(made.signal, 8);
        case MessageKind::barrier: return made.ticket > 0 && made.ticket < 1000;
        case MessageKind::collective: return made.ticket < 1000;
        case MessageKind::call: return made.value >> 8 < 1000;
        case MessageKind::difference: return made.value >> 8 < 1000 || made.ticket >> 8 < 1000;
        default: return false;
        }
    }

    Regions regions_;
    Random random_;
};

/// Most messages travel in bursts, which is far cheaper; a few travel alone.
void rave(kumiki_job* job, Regions regions, std::size_t messages) {
    Network& network = *job->fabric->network();
    Madness madness(regions, 1998);
    std::array<std::byte, 600> noise{};
    madness.random().fill(noise);
    const tests::Enough enough(std::chrono::seconds(20));
    const std::size_t room = network.limits().burst;
    for (std::size_t sent = 0; sent < messages && !enough.reached();) {
        if (madness.random().once_in(4)) {
            const std::size_t bytes = madness.length();
            ASSERT_TRUE(network.send(victim, madness.header(bytes), std::span(noise).first(bytes)));
            ++sent;
        }
        Burst burst;
        for (std::size_t bytes = 0; burst.has_room_for(bytes = madness.length(), room); ++sent)
            burst.add(madness.header(bytes), std::span(noise).first(bytes), room);
        auto text = burst.take();
        if (madness.random().once_in(3)) text.resize(text.size() - madness.random().between<std::size_t>(1, 700));
        MessageHeader header = network.header(MessageKind::burst);
        if (madness.random().once_in(10)) header.source = madness.random().between(-1, 5);
        if (header.source == partner) header.source = madman;
        ASSERT_TRUE(network.send(victim, header, text));
    }
}

/// Each rank checks that the other's memory and messages are correct.
void work(kumiki_job* job, std::byte* used, const std::atomic<bool>& over) {
    const int me = kumiki_rank(job), other = me == victim ? partner : victim;
    auto* words = reinterpret_cast<std::uint64_t*>(used);
    std::vector<std::uint64_t> sent(60000), received(sent.size()), back(500);
    for (std::uint64_t round = 1, last = 0; last == 0; ++round) {
        const std::vector<std::uint64_t> mine(back.size(), round * 10 + static_cast<std::uint64_t>(me));
        ASSERT_EQ(kumiki_put(job, other, words + 8, mine.data(), mine.size() * 8), KUMIKI_OK);
        ASSERT_EQ(kumiki_get(job, other, words + 8, back.data(), back.size() * 8), KUMIKI_OK);
        ASSERT_EQ(back, mine);
        std::uint64_t before = 0;
        ASSERT_EQ(kumiki_fetch_add(job, other, words, 1, &before), KUMIKI_OK);
        ASSERT_EQ(before, round - 1);
        // The partner says which round is the last.
        sent.assign(sent.size(), round);
        sent.front() = me == partner && over.load() ? 1 : 0;
        std::array<kumiki_request, 2> requests{};
        ASSERT_EQ(kumiki_receive(job, other, 1000, received.data(), received.size() * 8, &requests[0]), KUMIKI_OK);
        ASSERT_EQ(kumiki_send(job, other, 1000, sent.data(), sent.size() * 8, &requests[1]), KUMIKI_OK);
        ASSERT_EQ(kumiki_wait_all(job, requests.data(), requests.size(), nullptr), KUMIKI_OK);
        last = me == partner ? sent.front() : received.front();
        sent.front() = received.front();
        ASSERT_EQ(received, sent);
    }
}

bool is_zero(const std::byte* begin, const std::byte* end) {
    return std::all_of(begin, end, [](std::byte each) { return each == std::byte{0}; });
}

TEST(StrangerFuzzTest, AMillionWrongMessagesDoNoHarm) {
    const tests::Watchdog watchdog("a million wrong messages", std::chrono::seconds(280));
    std::atomic<bool> over{false};
    const std::size_t messages = std::size_t{1000000} / tests::slowdown;
    tests::run_jobs_as_threads({.ranks = 3, .hosts = 3, .timeout_s = 100}, [&](kumiki_job* job) {
        void *used = nullptr, *open = nullptr;
        int handler = 0;
        ASSERT_EQ(kumiki_allocate(job, region_bytes, &used), KUMIKI_OK);
        ASSERT_EQ(kumiki_allocate(job, region_bytes, &open), KUMIKI_OK);
        const auto ignore = [](kumiki_job*, int, const void*, size_t, void*) {};
        ASSERT_EQ(kumiki_register_handler(job, ignore, nullptr, &handler), KUMIKI_OK);
        // Receives that a malformed announcement may match, so that fragments have a destination.
        std::vector<std::vector<std::byte>> inboxes(64, std::vector<std::byte>(inbox_bytes + behind_inbox));
        if (kumiki_rank(job) == victim)
            for (std::size_t tag = 0; tag < inboxes.size(); ++tag) {
                kumiki_request forgotten{};
                ASSERT_EQ(
                    kumiki_receive(job, madman, static_cast<int>(tag), inboxes[tag].data(), inbox_bytes, &forgotten),
                    KUMIKI_OK);
            }
        ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK);
        if (kumiki_rank(job) == madman) {
            rave(job, {job->fabric->memory().offset(used), job->fabric->memory().offset(open)}, messages);
            over = true;
        } else {
            work(job, static_cast<std::byte*>(used), over);
            const std::byte* const arena = job->fabric->memory().own_arena();
            const auto end_of = [](void* region) { return static_cast<std::byte*>(region) + region_bytes; };
            EXPECT_TRUE(is_zero(end_of(used), static_cast<std::byte*>(open)));
            EXPECT_TRUE(is_zero(end_of(open), arena + (std::size_t{4} << 20)));
            for (const auto& inbox : inboxes)
                EXPECT_TRUE(is_zero(inbox.data() + inbox_bytes, inbox.data() + inbox.size()));
        }
        ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK);
    });
}

} // namespace
} // namespace kumiki::fabric
