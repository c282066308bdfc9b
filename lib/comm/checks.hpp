// Settings that only the group's size or this host can judge, before anything is connected.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "config/settings.hpp"
#include "schedule/schedule.hpp"
#include "sircl/status.hpp"
#include "topology/fabric.hpp"

namespace sircl::detail {

struct Checked {
  std::optional<topology::Fabric> fabric;        ///< what SIRCL_FABRIC says, unless it is auto
  std::optional<schedule::Algorithm> algorithm;  ///< SIRCL_ALGORITHM, unless it is auto
  std::vector<int> processors;                   ///< dealt out by SIRCL_PIN; empty: do not bind
};

/// Parts come from split(): what SIRCL_FABRIC says is said of the whole.
enum class GroupKind : std::uint8_t { whole, part };

/// Also puts SIRCL_SIMD into force.
Result<Checked> check_settings(const config::Settings& settings, int size,
                               GroupKind kind = GroupKind::whole);

/// One warning for each setting that is set but does nothing in this version.
void warn_of_idle_settings(const config::Settings& settings);

}  // namespace sircl::detail
