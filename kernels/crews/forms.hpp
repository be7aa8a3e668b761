#pragma once

#include "kernels/common/form_choice.hpp"
#include "kernels/crews/hybrid/blocks.hpp"
#include "kernels/crews/hybrid/hybrid_crew.hpp"
#include "kernels/crews/hybrid/key_exchange.hpp"
#include "kernels/crews/hybrid/panels.hpp"
#include "kernels/crews/hybrid/shared_vector.hpp"
#include "kernels/crews/message/blocks.hpp"
#include "kernels/crews/message/key_exchange.hpp"
#include "kernels/crews/message/message_crew.hpp"
#include "kernels/crews/message/panels.hpp"
#include "kernels/crews/message/shared_vector.hpp"
#include "kernels/crews/one_memory/blocks.hpp"
#include "kernels/crews/one_memory/key_exchange.hpp"
#include "kernels/crews/one_memory/openmp_crew.hpp"
#include "kernels/crews/one_memory/panels.hpp"
#include "kernels/crews/one_memory/shared_vector.hpp"
#include "kernels/crews/shared/blocks.hpp"
#include "kernels/crews/shared/key_exchange.hpp"
#include "kernels/crews/shared/panels.hpp"
#include "kernels/crews/shared/shared_crew.hpp"
#include "kernels/crews/shared/shared_vector.hpp"

namespace kumiki::kernels {

/// Calls body(crew) -> exit code with the crew of the chosen form.
template <class Body>
int with_crew(const FormChoice& choice, Body body) {
    if (choice.form == "openmp") {
        OpenMpCrew crew(choice.threads_or_all_cores());
        return body(crew);
    }
    if (choice.form == "hybrid") {
        Job job;
        HybridCrew crew(job, choice.all_threads);
        return body(crew);
    }
    if (choice.form == "message") {
        Job job;
        MessageCrew crew(job, choice.all_threads);
        return body(crew);
    }
    if (choice.form == "shared") {
        Job job;
        SharedCrew crew(job, choice.all_threads, choice.homes, choice.protocol, choice.page);
        return body(crew);
    }
    SequentialCrew crew;
    return body(crew);
}

} // namespace kumiki::kernels
