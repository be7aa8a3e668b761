// How the processes of a program become its ranks, and what they share from then on.
#include "openmp/ranks/ranks.hpp"

#include <algorithm>
#include <bitset>
#include <chrono>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <sched.h>
#include <utility>

#include "dsm/record_collection.hpp"
#include "fabric/network/transport.hpp"
#include "openmp/process.hpp"
#include "openmp/ranks/process/descriptors.hpp"
#include "openmp/ranks/memory/unmapped_faults.hpp"
#include "openmp/ranks/memory/variable_homes.hpp"
#include "platform/memory.hpp"
#include "settings/explain_folder.hpp"

namespace kumiki::openmp {
namespace {

/// Rank 0, which runs main, stands in where touches decide.
dsm::Arrangement arrangement_of_variables(ProgramHomes homes) {
    using dsm::Placement;
    switch (homes) {
    case ProgramHomes::owner: return {.placement = Placement::first_rank};
    case ProgramHomes::block: return {.placement = Placement::block};
    case ProgramHomes::cyclic: return {.placement = Placement::cyclic};
    case ProgramHomes::relocated: return {.placement = Placement::relocated, .until_touched = Placement::first_rank};
    case ProgramHomes::first:
    case ProgramHomes::next: break;
    }
    return {.placement = Placement::first, .until_touched = Placement::first_rank};
}

/// The race check needs the faults of homes, and those of `owner` have none.
ProgramHomes homes_for(const Settings& settings) {
    return settings.shared_check && settings.homes == ProgramHomes::owner ? ProgramHomes::block : settings.homes;
}

} // namespace

Ranks::Ranks(std::unique_ptr<fabric::Fabric> fabric, std::unique_ptr<explain::Record> record, const Settings& settings,
             const Program& program)
    : fabric_(std::move(fabric)),
      collectives_(fabric_->everybody()),
      record_(std::move(record)),
      shared_(*fabric_, collectives_,
              {.copies = CopyHolder::rank,
               .faults = settings.shared_faults,
               .system_calls = false,
               .record = record_.get(),
               .cache = settings.shared_cache,
               .check = settings.shared_check,
               .executable_stacks = std::ranges::any_of(loaded_objects(), &Object::wants_executable_stacks),
               .executable_heap = program.makes_code()}),
      homes_(homes_for(settings)),
      openmp_homes_(settings.openmp_homes),
      opens_at_first_region_(settings.homes == ProgramHomes::next),
      measures_(settings.openmp_schedule == "measured"),
      monotonic_(settings.openmp_schedule == "monotonic"),
      exchanged_tasks_(settings.openmp_tasks),
      updates_(settings.openmp_atomics),
      has_own_host_(fabric_->everybody().hosts() == fabric_->size()),
      standard_output_(settings.output_marks, settings.output_unread, fabric_->memory().own().output_read),
      here_first_(std::make_unique<Lock[]>(KUMIKI_SHARED_LOCKS)),
      lock_numbers_(settings.rank, settings.size),
      random_numbers_(settings.rank) {
    std::vector<int> threads;
    for (int rank = 0; rank < settings.size; ++rank)
        threads.push_back(std::max(1, Settings::of_rank(settings.job_threads, rank)));
    firsts_.assign(threads.size() + 1, 0);
    std::inclusive_scan(threads.begin(), threads.end(), firsts_.begin() + 1);
    for (const int each : threads) speeds_.push_back(each / static_cast<double>(firsts_.back()));
}

Result<std::unique_ptr<Ranks>> Ranks::join(const Settings& settings, const Program& program) {
    // A function of the program may wait for a page, which the engine that calls it would have to fetch; and when the
    // engine ends, no page can be fetched any more.
    if (settings.local_size < settings.size)
        if (auto loaded = fabric::load_transport_apart(); !loaded) return tl::unexpected(loaded.error());
    auto fabric = fabric::Fabric::join(settings);
    if (!fabric) return tl::unexpected(fabric.error());
    auto record = explain::Record::open(explain_folder(environ), (*fabric)->rank(), (*fabric)->size(), settings.host);
    if (!record) return tl::unexpected(record.error());
    explain_unmapped_faults((*fabric)->rank(), other_libraries(program));
    std::unique_ptr<Ranks> ranks(new Ranks(std::move(*fabric), std::move(*record), settings, program));
    if (auto same = ranks->compare_layouts(program); !same) return tl::unexpected(same.error());
    if (auto counted = ranks->compare_hosts(); !counted) return tl::unexpected(counted.error());
    if (auto shared = ranks->share_memory(program); !shared) return tl::unexpected(shared.error());
    ranks->choose_hosts(settings);
    return ranks;
}

Result<> Ranks::compare_layouts(const Program& program) {
    const auto size = static_cast<std::size_t>(fabric_->size());
    std::vector<std::uint64_t> layouts(size);
    if (auto met = collectives_.all_gather(&program.layout, sizeof program.layout, layouts.data(),
                                           collective::Collectives::Pieces::equal(sizeof program.layout));
        !met)
        return met;
    const auto other = std::ranges::find_if(layouts, [&](std::uint64_t each) { return each != layouts.front(); });
    if (other == layouts.end()) return {};
    return fail(
        KUMIKI_ERROR_ENVIRONMENT,
        fmt::format("rank {} has loaded the program or a library at other addresses than rank 0, or another "
                    "version of it; use the same files and the same limit of the stack (ulimit -s) at all ranks, "
                    "and let the kernel load them without randomised addresses (personality, which containers "
                    "may forbid)",
                    other - layouts.begin()));
}

/// Ranks of a host may share processors, and limits may differ from host to host.
Result<> Ranks::compare_hosts() {
    using Cpus = std::bitset<CPU_SETSIZE>;
    struct OfRank {
        int leader = 0; ///< of the rank's host
        int descriptors = 0;
        Cpus cpus;
    } mine;
    mine.descriptors = descriptors_for_each_of(fabric_->size());
    const fabric::Group& all = fabric_->everybody();
    mine.leader = all.leader(all.own_host());
    for (const int cpu : process().environment().cpus)
        if (cpu < CPU_SETSIZE) mine.cpus.set(static_cast<std::size_t>(cpu));
    std::vector<OfRank> ranks(static_cast<std::size_t>(fabric_->size()));
    if (auto met = collectives_.all_gather(&mine, sizeof mine, ranks.data(),
                                           collective::Collectives::Pieces::equal(sizeof mine));
        !met)
        return met;
    std::map<int, Cpus> hosts;
    for (const OfRank& each : ranks) hosts[each.leader] |= each.cpus;
    processors_ = 0;
    for (const auto& [leader, cpus] : hosts) processors_ += static_cast<int>(cpus.count());
    descriptors_for_each_ = std::ranges::min(ranks, {}, &OfRank::descriptors).descriptors;
    return {};
}

Result<> Ranks::share_memory(const Program& program) {
    const auto ranks = static_cast<std::size_t>(fabric_->size());
    auto words = collectives_.allocate(Words::bytes(ranks));
    if (!words) return tl::unexpected(words.error());
    words_.emplace(*fabric_, static_cast<std::byte*>(*words));

    int most = 1;
    for (std::size_t rank = 0; rank < ranks; ++rank) most = std::max(most, firsts_[rank + 1] - firsts_[rank]);
    const auto lengths = Stacks::lengths_for(most, process().environment().stack_bytes);
    auto stacks = shared_.allocate_open(ranks * lengths.bytes(), dsm::Placement::block, explain::Use::stacks);
    if (!stacks) return tl::unexpected(stacks.error());
    stacks_.emplace(static_cast<std::byte*>(*stacks) + static_cast<std::size_t>(rank()) * lengths.bytes(), lengths);
    used_stacks_ = std::make_unique<std::atomic<bool>[]>(static_cast<std::size_t>(stacks_->others()) + 1);

    if (auto made = make_heap(); !made) return made;
    process_state_.emplace(*this, *heap_);

    auto loops = shared_.allocate_open(loop_places * sizeof(LoopWords), dsm::Placement::first_rank, explain::Use::heap);
    if (!loops) return tl::unexpected(loops.error());
    loop_words_ = static_cast<LoopWords*>(*loops);
    auto events = shared_.allocate_open(ranks * sizeof(Events::List), dsm::Placement::first_rank, explain::Use::heap);
    if (!events) return tl::unexpected(events.error());
    events_.emplace(*this, std::span(static_cast<Events::List*>(*events), ranks));

    auto locks = shared_.locks("openmp");
    if (!locks) return tl::unexpected(locks.error());
    locks_ = *locks;
    if (auto shared = share_streams(); !shared) return shared;
    if (std::ranges::none_of(program.images, &Image::makes_tasks)) exchanged_tasks_ = TaskRanks::own;
    if (exchanged_tasks_ != TaskRanks::own)
        if (auto shared = share_tasks(); !shared) return shared;
    return share_variables(program);
}

/// Only variables of the program itself may have been given homes, or rows for loops.
Result<> Ranks::share_variables(const Program& program) {
    const auto known = known_variables_from(openmp_homes_);
    if (!known) return tl::unexpected(known.error());
    rows_ = known->rows;
    base_ = program.images.front().base;
    thread_variables_ = ThreadVariables(program);
    for (const Image& image : program.images) {
        if (image.data.empty()) continue;
        std::span<const VariableHomes> homes;
        if (&image == &program.images.front()) homes = known->homes;
        Variables& variables = variables_.emplace_back(Variables{image.data, {}, image.initialized, {}});
        if (homes_ != ProgramHomes::owner || !homes.empty())
            variables.special_homes = home_runs(homes, image, fabric_->size());
        if (image.copies_variables) variables.initial.assign(image.initialized.begin(), image.initialized.end());
        dsm::Arrangement wanted = arrangement_of_variables(homes_);
        wanted.exceptions = variables.special_homes;
        const auto at_home = homes_ == ProgramHomes::owner && variables.special_homes.empty()
                                 ? dsm::SharedMemory::AtHome::never_faults
                                 : dsm::SharedMemory::AtHome::faults;
        if (auto adopted = shared_.adopt(image.data, wanted, at_home); !adopted) return adopted;
    }
    return {};
}

void Ranks::copy_initial(const void* variable, std::span<std::byte> into) const {
    std::ranges::fill(into, std::byte{});
    const auto* const begin = static_cast<const std::byte*>(variable);
    for (const Variables& each : variables_) {
        const auto offset = static_cast<std::size_t>(begin - each.initialized.data());
        if (begin < each.initialized.data() || offset >= each.initial.size()) continue; // in the zeros behind them
        const auto known = std::span(each.initial).subspan(offset);
        std::ranges::copy(known.first(std::min(known.size(), into.size())), into.begin());
    }
}

/// Each rank is the home of its own inbox, so it looks into it at no cost. Behind it its Fortran units begin.
Result<> Ranks::share_streams() {
    const auto ranks = static_cast<std::size_t>(fabric_->size());
    const std::size_t page = platform::page_size();
    auto inboxes = shared_.allocate_open(ranks * page, dsm::Placement::block, explain::Use::heap);
    if (!inboxes) return tl::unexpected(inboxes.error());
    std::vector<Streams::Inbox*> by_rank;
    std::vector<FortranUnits::Unit**> units;
    for (std::size_t each = 0; each < ranks; ++each) {
        by_rank.push_back(reinterpret_cast<Streams::Inbox*>(static_cast<std::byte*>(*inboxes) + each * page));
        units.push_back(reinterpret_cast<FortranUnits::Unit**>(by_rank.back() + 1));
    }
    file_calls_.emplace(*fabric_,
                        [this](int rank, const FileCalls::Request& request) -> std::optional<FileCalls::Answer> {
                            // What others have written to the file before comes first.
                            if (!own_files_.has_lease(rank, request) && !streams_->try_take_in()) return {};
                            return own_files_.make(rank, request);
                        });
    if (auto begun = file_calls_->begin(collectives_); !begun) return begun;
    streams_.emplace(*this, by_rank, *file_calls_);
    fortran_units_.emplace(*this, units);
    return {};
}

Result<> Ranks::share_tasks() {
    const bool is_eager = exchanged_tasks_ == TaskRanks::eager;
    wait_times_.begin();
    tasks_.emplace(
        *fabric_, is_eager, wait_times_,
        TaskMessages::Surroundings{
            .interval = interval_,
            .flush = [this] { flush(); },
            .time_with_others = [this] { return shared_.time_in_faults() + wait_times_.at(WaitTimes::threads); },
        });
    return tasks_->begin(collectives_);
}

/// The heap is as long as the addresses and the memory of all hosts allow, of which only what the program uses will be
/// taken; rank 0 decides for all. Each rank has an equal slice where it is the home of what it allocates; else rank 0,
/// which runs main, has half of the heap in addition to such a slice of the other half: most programs allocate there.
Result<> Ranks::make_heap() {
    const auto ranks = static_cast<std::uint64_t>(fabric_->size());
    const auto hosts = static_cast<std::uint64_t>(fabric_->everybody().hosts());
    const std::uint64_t page = platform::page_size();
    std::uint64_t slices = std::min<std::uint64_t>(fabric_->memory().header().arena_bytes / 4 * 3,
                                                   platform::available_memory() / 10 * 6 * hosts) /
                           shared_.bytes_for_each() / (2 * ranks) / page; // in pages, of each rank two
    if (auto met = collectives_.broadcast(&slices, sizeof slices, 0); !met) return met;
    const std::uint64_t slice = slices * page, all = 2 * ranks * slice;
    auto heap = allocate_heap(all);
    if (!heap) return tl::unexpected(heap.error());
    auto* const begin = static_cast<std::byte*>(*heap);
    const bool are_equal = homes_ == ProgramHomes::owner || homes_ == ProgramHomes::block;
    std::vector<std::span<std::byte>> of_ranks;
    for (std::uint64_t number = 0; number < ranks; ++number)
        of_ranks.push_back(are_equal     ? std::span(begin + 2 * number * slice, 2 * slice)
                           : number == 0 ? std::span(begin, (ranks + 1) * slice)
                                         : std::span(begin + (ranks + number) * slice, slice));
    heap_.emplace(std::span(begin, all), std::move(of_ranks), rank());
    return {};
}

/// Where homes are blocks, they are the slices of the ranks.
Result<void*> Ranks::allocate_heap(std::size_t bytes) {
    switch (homes_) {
    case ProgramHomes::owner: return shared_.allocate_open(bytes, dsm::Placement::block, explain::Use::heap);
    case ProgramHomes::block: return shared_.allocate(bytes, 0, dsm::Placement::block, explain::Use::heap);
    case ProgramHomes::cyclic: return shared_.allocate(bytes, 0, dsm::Placement::cyclic, explain::Use::heap);
    case ProgramHomes::relocated: return shared_.allocate(bytes, 0, dsm::Placement::relocated, explain::Use::heap);
    case ProgramHomes::first:
    case ProgramHomes::next: break;
    }
    return shared_.allocate(bytes, 0, dsm::Placement::first, explain::Use::heap);
}

void Ranks::make_last_calls() {
    if (last_calls_.empty()) return;
    leader_.store({}, std::memory_order_relaxed); // nobody waits for a region of all ranks any more
    acquire(end_lock);
    last_calls_.make();
    release(end_lock);
}

/// From now on the threads of this process use no other rank's locks and words. Those that are in the middle of this
/// get their answers, if they do not wait for a lock that a thread of another rank never leaves.
void Ranks::end_calls() {
    using namespace std::chrono_literals;
    left_.store(true);
    const auto have_ended = [this] { return calls_.load() == 0; };
    const auto end = std::chrono::steady_clock::now() + 1s;
    while (!fabric_->progress().wait_at_most(1ms, have_ended) && std::chrono::steady_clock::now() < end) {}
}

void Ranks::leave() {
    flush_output();
    check(shared_.end_check());
    end_calls();
    check(dsm::collect_records(*fabric_, collectives_, record_.get()));
    check(collectives_.leave());
    variable_wait_.reset(); // nobody asks this rank for a release any more, or for a lock
    kept_locks_.reset();
    events_.reset();
    streams_->remote_files()->end();
    file_calls_->end();
    fabric_->leave();
    // The memory of the program stays, and so do all objects that hold it; but UCX must not be in use any more when the
    // process ends, and what this rank has sent must have arrived.
    if (auto* const network = fabric_->network()) network->close();
}

} // namespace kumiki::openmp
