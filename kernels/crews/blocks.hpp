#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "kernels/common/aligned.hpp"

namespace kumiki::kernels {

/// A block that its owner finishes in some round, and the workers that use it in later rounds.
struct FinalBlock {
    std::size_t block;
    std::vector<int> readers; ///< workers, in any order; the owner may be among them
};

/// The blocks of a matrix, and the rounds of a program in which they become final. A block becomes final once at most;
/// before that only its owner uses it.
struct BlockPlan {
    std::size_t count;                     ///< blocks
    std::size_t length;                    ///< numbers of a block
    std::function<int(std::size_t)> owner; ///< the worker of a block
    std::vector<std::vector<FinalBlock>> rounds;
};

/// The blocks as a program works on them: C::Blocks(crew, plan). Every worker of the crew calls deliver() for one round
/// after another.
template <class B, class W>
concept BlocksFor = requires(B blocks, W worker, std::size_t number) {
    /// In a memory of this process: a block of one of its workers, or one that has been delivered to one of them. All
    /// blocks begin with a cache line.
    { blocks.at(number) } -> std::same_as<double*>;
    /// The worker has finished its blocks of the round. Returns when all blocks of the round are here that workers of
    /// this process use; the phase computation begins.
    blocks.deliver(worker, number);
    /// Whether this process can access the blocks of all workers, so that one worker could write all of them.
    { blocks.in_one_memory() } -> std::same_as<bool>;
};

/// The ways of blocks from one process to others, as one process sees them: each block travels once to each process
/// that needs it.
class BlockRoutes {
public:
    struct Outgoing {
        std::size_t block;
        int number; ///< in its round; the same at all processes
        std::vector<int> processes;
    };
    struct Incoming {
        std::size_t block;
        int number;
        int process;
    };

    BlockRoutes(const BlockPlan& plan, int process, int threads)
        : threads_(static_cast<std::size_t>(threads)), incoming_(plan.rounds.size()) {
        outgoing_.resize(plan.rounds.size() * threads_);
        for (std::size_t round = 0; round < plan.rounds.size(); ++round) {
            int number = 0;
            for (const FinalBlock& each : plan.rounds[round]) {
                const int owner = plan.owner(each.block);
                std::set<int> processes;
                for (const int reader : each.readers) processes.insert(reader / threads);
                processes.erase(owner / threads);
                if (owner / threads == process)
                    outgoing_[round * threads_ + static_cast<std::size_t>(owner % threads)].push_back(
                        {each.block, number, {processes.begin(), processes.end()}});
                else if (processes.contains(process)) incoming_[round].push_back({each.block, number, owner / threads});
                ++number;
            }
        }
    }

    /// The blocks that this thread of the process finishes in a round.
    const std::vector<Outgoing>& outgoing(std::size_t round, int thread) const {
        return outgoing_[round * threads_ + static_cast<std::size_t>(thread)];
    }
    /// The blocks that this process needs from others after a round.
    const std::vector<Incoming>& incoming(std::size_t round) const { return incoming_[round]; }

private:
    std::size_t threads_;
    std::vector<std::vector<Outgoing>> outgoing_; ///< by round and thread
    std::vector<std::vector<Incoming>> incoming_; ///< by round
};

/// Memory for all blocks of a plan, one after another, that no thread has touched yet: a block will be near the thread
/// that first writes it.
class UntouchedBlocks {
public:
    explicit UntouchedBlocks(const BlockPlan& plan)
        : length_(plan.length),
          memory_(AlignedAllocator<double>().allocate(plan.count * length_), {plan.count * length_}) {}

    double* at(std::size_t block) const { return memory_.get() + block * length_; }

private:
    struct Release {
        std::size_t count;
        void operator()(double* memory) const { AlignedAllocator<double>().deallocate(memory, count); }
    };

    std::size_t length_;
    std::unique_ptr<double[], Release> memory_;
};

} // namespace kumiki::kernels
