// All of the C++ API.
#pragma once

#include "sircl/communicator.hpp"
#include "sircl/options.hpp"
#include "sircl/status.hpp"
#include "sircl/types.hpp"
