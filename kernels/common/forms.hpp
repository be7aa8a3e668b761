#pragma once

#include "kernels/common/form_choice.hpp"
#include "kernels/common/hybrid_crew.hpp"
#include "kernels/common/message_crew.hpp"
#include "kernels/common/openmp_crew.hpp"

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
    SequentialCrew crew;
    return body(crew);
}

} // namespace kumiki::kernels
