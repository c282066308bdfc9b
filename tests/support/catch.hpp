// Catch2 2 (Debian 12) and 3 (Ubuntu 24.04) under one include.
#pragma once
#if SIRCL_CATCH_MAJOR >= 3
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
