#pragma once

#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "collective/collectives.hpp"
#include "dsm/shared_memory.hpp"
#include "explain/record.hpp"
#include "fabric/fabric.hpp"
#include "message/messages.hpp"
#include "platform/own_pages.hpp"
#include "settings/settings.hpp"
#include "team/team.hpp"

// What stands behind the opaque pointers of the C interface.

struct kumiki_group : kumiki::platform::InOwnPages {
    kumiki_job* job = nullptr;
    std::unique_ptr<kumiki::fabric::Group> members; ///< null: the job's own
    std::unique_ptr<kumiki::collective::Collectives> collectives;

    bool is_inherited() const { return collectives == nullptr; }
};

struct kumiki_team : kumiki::platform::InOwnPages {
    kumiki_job* job = nullptr;
    kumiki::trace::Trace* trace = nullptr;
    std::unique_ptr<kumiki::team::Team> team;
    std::thread::id creator;
    std::vector<int> creators_cpus; ///< those that it could use before it created its first team

    bool is_inherited() const { return team == nullptr; }
};

struct kumiki_job : kumiki::platform::InOwnPages {
    kumiki::Settings settings;
    std::unique_ptr<kumiki::fabric::Fabric> fabric;
    kumiki_group all;
    std::mutex made_mutex;
    std::vector<std::unique_ptr<kumiki_group>> groups; ///< that were made and not yet freed
    std::vector<std::unique_ptr<kumiki_team>> teams;   ///< that were created and not yet destroyed, oldest first
    std::unique_ptr<kumiki::message::Messages> messages;
    std::unique_ptr<kumiki::explain::Record> record; ///< null: nothing is recorded
    std::unique_ptr<kumiki::dsm::SharedMemory> shared;

    /// Whether this process is a child of the rank, forked after it had joined. A child is no rank.
    bool is_inherited() const { return fabric == nullptr; }

    /// What stands on the fabric.
    void build(const kumiki::message::Messages::Options& options) {
        all.job = this;
        all.collectives = std::make_unique<kumiki::collective::Collectives>(fabric->everybody());
        messages = std::make_unique<kumiki::message::Messages>(*fabric, options);
        shared = std::make_unique<kumiki::dsm::SharedMemory>(
            *fabric, *all.collectives,
            kumiki::dsm::SharedMemory::Options{.copies = settings.shared_copies,
                                               .faults = settings.shared_faults,
                                               .protocol = settings.shared_protocol,
                                               .record = record.get(),
                                               .cache = settings.shared_cache,
                                               .check = settings.shared_check,
                                               .heap = settings.shared_heap});
    }
};

namespace kumiki::face {

/// Stores the sentence for kumiki_error_message() and returns the error code.
kumiki_status report(const Failure& failure);

/// Whether a call with this job, group or team is refused: it is null, or this process is a forked child of the rank.
template <class Handle>
bool is_refused(const Handle* handle) {
    return handle == nullptr || handle->is_inherited();
}

/// The error of such a call. A group may be null because it was freed, or because this rank is not a member.
kumiki_status refuse_call(const kumiki_job* job, const char* operation);
kumiki_status refuse_call(const kumiki_group* group, const char* operation);
kumiki_status refuse_call(const kumiki_team* team, const char* operation);

inline kumiki_status report(const Result<>& result) { return result ? KUMIKI_OK : report(result.error()); }

/// Calls a collective of the group.
template <class Call>
kumiki_status on_group(kumiki_group* group, const char* operation, Call call) {
    if (is_refused(group)) [[unlikely]]
        return refuse_call(group, operation);
    const trace::Span span(group->job->fabric->trace(), operation);
    return report(call(*group->collectives));
}

} // namespace kumiki::face
