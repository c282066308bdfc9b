#include "comm/checks.hpp"

#include <fmt/format.h>

#include "base/log.hpp"
#include "comm/pin.hpp"
#include "reduce/reduce.hpp"

namespace sircl::detail {
namespace {

Result<std::optional<topology::Fabric>> cabled_fabric(const config::Settings& settings, int size) {
  const std::string text = settings.text("SIRCL_FABRIC");
  auto fabric = topology::parse_fabric(text);
  if (!fabric) return fabric.status();
  if (*fabric && (*fabric)->size != size) {
    return {StatusCode::invalid_setting,
            fmt::format("SIRCL_FABRIC={} has {} positions, but the group has {} rank{}; name what "
                        "these ranks are cabled as, or set it to auto",
                        text, (*fabric)->size, size, size == 1 ? "" : "s")};
  }
  return fabric;
}

Result<std::optional<schedule::Algorithm>> forced_algorithm(const config::Settings& settings) {
  const std::string name = settings.text("SIRCL_ALGORITHM");
  if (name.empty() || name == "auto") return std::optional<schedule::Algorithm>();
  const auto algorithm = schedule::parse_algorithm(name);
  if (!algorithm) {
    return {StatusCode::invalid_setting,
            fmt::format("SIRCL_ALGORITHM={} is not an algorithm", name)};
  }
  const bool rounds_once =
      *algorithm == schedule::Algorithm::direct || *algorithm == schedule::Algorithm::exchange;
  if (settings.text("SIRCL_NUMERICS") == "exact" && !rounds_once) {
    return {StatusCode::invalid_setting,
            fmt::format("SIRCL_NUMERICS=exact rounds a sum once, but SIRCL_ALGORITHM={} rounds it "
                        "on the way; choose direct, exchange or auto",
                        name)};
  }
  return algorithm;
}

}  // namespace

Result<Checked> check_settings(const config::Settings& settings, int size, GroupKind kind) {
  const std::string simd = settings.text("SIRCL_SIMD");
  if (!simd.empty() && simd != "auto") {
    if (Status status = reduce::force_target(simd); !status.ok()) return status;
  }
  Checked checked;
  if (kind == GroupKind::whole) {
    auto fabric = cabled_fabric(settings, size);
    if (!fabric) return fabric.status();
    checked.fabric = *fabric;
  }
  auto algorithm = forced_algorithm(settings);
  if (!algorithm) return algorithm.status();
  checked.algorithm = *algorithm;
  // A process that is bound may name processors that it may no longer run on.
  if (!is_pinned()) {
    auto processors = parse_pin(settings.text("SIRCL_PIN"), allowed_processors());
    if (!processors) return processors.status();
    checked.processors = *std::move(processors);
  }
  return checked;
}

void warn_of_idle_settings(const config::Settings& settings) {
  for (const config::Setting& setting : config::registry()) {
    if (setting.has_effect() || settings.is_default(setting.name)) continue;
    const std::string source = settings.source(setting.name);
    if (source.find(' ') != std::string::npos && !source.starts_with("file")) continue;  // NCCL's
    log::warn(
        fmt::format("{} is set (by {}), but has no effect in this version", setting.name, source));
  }
}

}  // namespace sircl::detail
