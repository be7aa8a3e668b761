#pragma once

#include <gtest/gtest.h>

#include "kumiki/kumiki.h"

namespace kumiki::tests {

/// A team that is destroyed at the end, and whose runs take a function object.
class TestTeam {
public:
    TestTeam(kumiki_job* job, int threads) {
        EXPECT_EQ(kumiki_team_create(job, threads, &team_), KUMIKI_OK) << kumiki_error_message();
    }
    ~TestTeam() { kumiki_team_destroy(team_); }
    TestTeam(const TestTeam&) = delete;
    TestTeam& operator=(const TestTeam&) = delete;

    kumiki_team* get() const { return team_; }

    template <class Body>
    kumiki_status run(Body body) {
        return kumiki_team_run(team_, [](void* context, int thread) { (*static_cast<Body*>(context))(thread); }, &body);
    }

private:
    kumiki_team* team_ = nullptr;
};

} // namespace kumiki::tests
