#pragma once

/// All of Kumiki's C++ interface.
#include "kumiki/collectives.hpp"
#include "kumiki/error.hpp"
#include "kumiki/group.hpp"
#include "kumiki/job.hpp"
#include "kumiki/message.hpp"
#include "kumiki/region.hpp"
#include "kumiki/shared.hpp"
#include "kumiki/signal.hpp"
#include "kumiki/team.hpp"
#include "kumiki/type.hpp"
