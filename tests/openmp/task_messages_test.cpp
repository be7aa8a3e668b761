#include "openmp/ranks/task_messages.hpp"

#include <array>
#include <cstring>
#include <deque>
#include <gtest/gtest.h>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

#include "openmp/ranks/process/signals.hpp"
#include "openmp/task.hpp"
#include "support/ranks.hpp"

namespace kumiki::openmp {

SignalsLater::SignalsLater() = default; // there are no handlers in this test

namespace {

constexpr int rounds = 30, most_depth = 3;

/// The data of a task, which travel with it.
struct Node {
    std::atomic<long>* executed;
    int depth, home;
    unsigned seed;
    char more[40];
};

int children_of(const Node& node) { return node.depth == most_depth ? 0 : static_cast<int>(node.seed % 4); }
Node child_of(const Node& node, int number) {
    Node child = node;
    ++child.depth;
    child.seed = node.seed * 1664525 + static_cast<unsigned>(number) * 97 + 11;
    return child;
}
long nodes_of(const Node& node) {
    long all = 1;
    for (int i = 0; i < children_of(node); ++i) all += nodes_of(child_of(node, i));
    return all;
}

/// A rank whose threads execute tasks as a team does: a task has ended when all that it has created have. Some wait for
/// these, and a thread that waits in a task executes no task of another rank.
class Worker {
public:
    Worker(const tests::Rank& me, collective::Collectives& collectives)
        : rank_(me.rank()),
          collectives_(collectives),
          messages_(
              me.fabric, true, waits_,
              {.interval = interval_, .flush = [] {}, .time_with_others = [] { return std::chrono::nanoseconds(0); }}) {
        EXPECT_TRUE(messages_.begin(collectives));
    }

    int strangers() const { return strangers_.load(); }

    /// Executes the tasks of one interval, in which this rank creates `roots`.
    void run(std::span<const Node> roots, int threads) {
        for (const Node& root : roots) queue_task(root, nullptr);
        std::vector<std::jthread> others;
        for (int i = 1; i < threads; ++i)
            others.emplace_back([this, interval = interval_.load()] {
                work_until(false, [&] { return interval_.load() != interval; });
            });
        do work_until(false, [this] { return unfinished_.load() == 0 && !messages_.waits_for_others(); });
        while (unfinished_.load() != 0 || !messages_.tell_quiet(interval_.load()));
        EXPECT_TRUE(collectives_.barrier());
        interval_.fetch_add(1);
        messages_.ring();
    }

private:
    struct Family {
        Family* parent;
        TaskOrigin origin{};
        bool told_body = false;
        std::atomic<int> unfinished{1}; ///< the task itself, and its children
    };

    void queue_task(const Node& node, Family* parent) {
        auto* const task = new Task;
        auto* const data = static_cast<std::byte*>(::operator new(sizeof(Node) + sizeof(Family*)));
        if (parent != nullptr) parent->unfinished.fetch_add(1);
        unfinished_.fetch_add(1);
        std::memcpy(data, &node, sizeof node);
        std::memcpy(data + sizeof node, &parent, sizeof parent); // means something here only
        task->data = data;
        task->bytes = sizeof node;
        const std::lock_guard lock(mutex_);
        queue_.push_back(task);
    }

    Task* take(bool oldest) {
        const std::lock_guard lock(mutex_);
        if (queue_.empty()) return nullptr;
        Task* const task = oldest ? queue_.front() : queue_.back();
        if (oldest) queue_.pop_front();
        else queue_.pop_back();
        return task;
    }

    static Family* parent_of(const Task& task) {
        Family* parent;
        std::memcpy(&parent, static_cast<const std::byte*>(task.data) + sizeof(Node), sizeof parent);
        return parent;
    }

    void end(Family* family) {
        while (family != nullptr && family->unfinished.fetch_sub(1) == 1) {
            if (family->origin.task != nullptr)
                messages_.end(family->origin,
                              family->told_body ? ReturnedTask::How::rest_ended : ReturnedTask::How::ended, {});
            Family* const parent = family->parent;
            delete family;
            unfinished_.fetch_sub(1);
            family = parent;
        }
        messages_.ring(); // another thread may wait for it
    }

    void forget(Task* task) {
        ::operator delete(task->data);
        delete task;
    }

    void run(Task* task) {
        Node node;
        std::memcpy(&node, task->data, sizeof node);
        Family* const parent = parent_of(*task);
        forget(task);
        run(node, new Family{parent});
    }

    void run(const GivenTask& given) {
        Node node;
        EXPECT_EQ(given.bytes.size(), sizeof node);
        std::memcpy(&node, given.bytes.data(), sizeof node);
        unfinished_.fetch_add(1);
        run(node, new Family{nullptr, given.origin});
    }

    void run(const Node& node, Family* family) {
        if (node.home != rank_) strangers_.fetch_add(1);
        node.executed->fetch_add(1);
        for (int i = 0; i < children_of(node); ++i) queue_task(child_of(node, i), family);
        if (node.seed % 3 == 0) work_until(true, [&] { return family->unfinished.load() == 1; });
        if (family->origin.task != nullptr && family->unfinished.load() != 1) {
            family->told_body = true;
            messages_.end(family->origin, ReturnedTask::How::body_ended, {});
        }
        end(family);
    }

    void take_in(std::span<const ReturnedTask> returned) {
        for (const auto& [task, how] : returned) {
            if (how == ReturnedTask::How::not_executed) {
                const std::lock_guard lock(mutex_);
                queue_.push_front(task);
                continue;
            }
            if (how != ReturnedTask::How::ended && task->parts_ended.fetch_add(1) == 0) continue;
            end(new Family{parent_of(*task)});
            forget(task);
        }
    }

    bool has_tasks(std::size_t more_than = 0) {
        const std::lock_guard lock(mutex_);
        return queue_.size() > more_than;
    }

    template <class Ready>
    void work_until(bool is_inside, Ready ready) {
        while (!ready()) {
            if (messages_.has_news()) take_in(messages_.take_news());
            // A rank that gave away its last task could give for ever what nobody executes.
            if (messages_.is_asked() && (has_tasks(1) || messages_.has_given()))
                messages_.give([this](std::span<Task*> tasks) {
                    std::size_t count = 0;
                    while (count < 3 && has_tasks(1) && (tasks[count] = take(true)) != nullptr) ++count;
                    return count;
                });
            if (Task* const task = take(false)) {
                run(task);
                continue;
            }
            if (const auto given = is_inside ? std::nullopt : messages_.take_given([] { return true; })) {
                run(*given);
                continue;
            }
            messages_.tell_ended();
            if (!is_inside) messages_.ask();
            messages_.wait([&] {
                return ready() || has_tasks() || messages_.has_news() || (!is_inside && messages_.has_given());
            });
        }
    }

    const int rank_;
    collective::Collectives& collectives_;
    WaitTimes waits_;
    std::atomic<std::uint64_t> interval_{1};
    TaskMessages messages_;
    std::mutex mutex_;
    std::deque<Task*> queue_;
    std::atomic<int> unfinished_{0}, strangers_{0};
};

/// Whenever the ranks have met, all tasks of all ranks have been executed, once each.
void exchange(int threads) {
    std::atomic<long> executed{0}, expected{0};
    constexpr int ranks = 3;
    std::atomic<int> strangers{0};
    std::array<std::optional<Worker>, ranks> workers; // they live until no message is on its way
    tests::run_ranks_as_threads({.ranks = ranks, .crowded = true}, [&](tests::Rank& me) {
        Worker& worker = workers[static_cast<std::size_t>(me.rank())].emplace(me, me.collectives);
        ASSERT_TRUE(me.collectives.barrier());
        std::mt19937 random(static_cast<unsigned>(me.rank()));
        for (int round = 0; round < rounds; ++round) {
            std::vector<Node> roots;
            const bool has_many = round % me.size() == me.rank();
            for (auto left = has_many ? 40 : random() % 3; left > 0; --left) {
                roots.push_back({.executed = &executed,
                                 .depth = 0,
                                 .home = me.rank(),
                                 .seed = static_cast<unsigned>(random()),
                                 .more = {}});
                expected.fetch_add(nodes_of(roots.back()));
            }
            worker.run(roots, threads);
            EXPECT_EQ(executed.load(), expected.load());
            ASSERT_TRUE(me.collectives.barrier());
        }
        strangers.fetch_add(worker.strangers());
        ASSERT_TRUE(me.collectives.barrier());
    });
    EXPECT_GT(strangers.load(), 0);
}

TEST(TaskMessages, EndAllTasksBeforeTheRanksMeet) { exchange(2); }

/// A rank that met the others too early could not execute what they have given to it.
TEST(TaskMessages, EndAllTasksOfRanksWithOneThread) { exchange(1); }

} // namespace
} // namespace kumiki::openmp
