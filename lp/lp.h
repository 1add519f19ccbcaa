#pragma once
// Everything that a program and its nodes need. A main needs launchers/main.h too.

#include "lp/base/array.h"             // IWYU pragma: export
#include "lp/base/error.h"             // IWYU pragma: export
#include "lp/base/random.h"            // IWYU pragma: export
#include "lp/checkpoint/checkpoint.h"  // IWYU pragma: export
#include "lp/program/metrics.h"        // IWYU pragma: export
#include "lp/program/program.h"        // IWYU pragma: export
#include "lp/rpc/client.h"             // IWYU pragma: export
#include "lp/rpc/clients.h"            // IWYU pragma: export
#include "lp/rpc/core/future.h"        // IWYU pragma: export
#include "lp/rpc/core/published.h"     // IWYU pragma: export
#include "lp/rpc/feed.h"               // IWYU pragma: export
#include "lp/rpc/span.h"               // IWYU pragma: export
#include "lp/rpc/stream.h"             // IWYU pragma: export
