#include "dsm/page_set.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <set>
#include <thread>
#include <vector>

namespace kumiki::dsm {
namespace {

std::vector<std::size_t> take(PageSet& set) {
    std::vector<std::size_t> pages;
    std::size_t last = 0;
    set.take_runs([&](std::size_t begin, std::size_t end) {
        EXPECT_TRUE(pages.empty() || begin > last) << "runs that touch are one";
        for (std::size_t page = begin; page < end; ++page) pages.push_back(page);
        last = end;
    });
    return pages;
}

RC_GTEST_PROP(PageSetTest, WhatIsAddedIsTakenOnceAndInOrder, ()) {
    const auto pages = *rc::gen::element<std::size_t>(1, 63, 64, 65, 4096, 4097, 300'000);
    PageSet set(pages);
    for (int round = 0; round < 3; ++round) {
        const auto added = *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, pages));
        for (const std::size_t page : added) set.add(page);
        const std::set<std::size_t> expected(added.begin(), added.end());
        RC_ASSERT(take(set) == std::vector<std::size_t>(expected.begin(), expected.end()));
    }
    RC_ASSERT(take(set).empty());
}

RC_GTEST_PROP(PageSetTest, RunsBesideAPage, ()) {
    const auto pages = *rc::gen::inRange<std::size_t>(1, 400);
    const auto most = *rc::gen::inRange<std::size_t>(0, 400);
    const auto absent = *rc::gen::container<std::set<std::size_t>>(rc::gen::inRange<std::size_t>(0, pages));
    PageSet set(pages);
    for (std::size_t page = 0; page < pages; ++page) set.add(page);
    for (const std::size_t page : absent) set.remove(page);
    for (std::size_t page = 0; page < pages; ++page) {
        std::size_t run = 0;
        while (run < most && run < page && !absent.contains(page - run - 1)) ++run;
        RC_ASSERT(set.run_before(page, most) == run);
        run = 0;
        while (run < most && page + run + 1 < pages && !absent.contains(page + run + 1)) ++run;
        RC_ASSERT(set.run_behind(page, most) == run);
    }
    RC_ASSERT(take(set).size() == pages - absent.size());
    for (const std::size_t page : absent) set.add(page);
    RC_ASSERT(take(set) == std::vector<std::size_t>(absent.begin(), absent.end()));
}

TEST(PageSetTest, AnEmptyArrayHasNoPages) {
    PageSet set(0);
    EXPECT_TRUE(take(set).empty());
}

// Each page is added once. A page that is added while others are taken must not be lost, though its words are cleared
// at that moment.
TEST(PageSetTest, NoPageIsLostBetweenThreads) {
    constexpr std::size_t pages = 40'000, adders = 2;
    for (int round = 0; round < 20; ++round) {
        PageSet set(pages);
        std::atomic<std::size_t> at_work{adders};
        std::vector<std::thread> threads;
        for (std::size_t adder = 0; adder < adders; ++adder)
            threads.emplace_back([&, adder] {
                for (std::size_t page = adder; page < pages; page += adders) set.add(page);
                --at_work;
            });
        std::vector<int> taken(pages);
        const auto count = [&] {
            for (const std::size_t page : take(set)) ++taken[page];
        };
        while (at_work != 0) count();
        count();
        for (auto& thread : threads) thread.join();
        EXPECT_EQ(taken, std::vector<int>(pages, 1));
    }
}

} // namespace
} // namespace kumiki::dsm
