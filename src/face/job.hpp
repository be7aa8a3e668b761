#pragma once

#include <memory>

#include "collective/collectives.hpp"
#include "fabric/fabric.hpp"
#include "message/messages.hpp"
#include "platform/own_pages.hpp"
#include "settings/settings.hpp"

/// What stands behind the opaque pointer of the C interface.
struct kumiki_job : kumiki::platform::InOwnPages {
    kumiki::Settings settings;
    std::unique_ptr<kumiki::fabric::Fabric> fabric;
    std::unique_ptr<kumiki::collective::Collectives> collectives;
    std::unique_ptr<kumiki::message::Messages> messages;

    /// Whether this process is a child of the rank, forked after it had joined. A child is no rank.
    bool is_inherited() const { return fabric == nullptr; }

    /// What stands on the fabric.
    void build(const kumiki::message::Messages::Options& options) {
        collectives = std::make_unique<kumiki::collective::Collectives>(fabric->everybody());
        messages = std::make_unique<kumiki::message::Messages>(*fabric, options);
    }
};

namespace kumiki::face {

/// Keeps the sentence for kumiki_error_message() and returns the code.
kumiki_status report(const Failure& failure);

/// For a child that calls `operation`.
kumiki_status refuse_child(const char* operation);

inline kumiki_status report(const Result<>& result) { return result ? KUMIKI_OK : report(result.error()); }

} // namespace kumiki::face
