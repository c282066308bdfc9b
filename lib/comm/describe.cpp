// What a communicator says of itself: start-up block, counters.
#include <fmt/format.h>

#include "comm/communicator_impl.hpp"
#include "reduce/reduce.hpp"
#include "topology/drawing.hpp"

namespace sircl::detail {

Counters read_counters(CommunicatorImpl& impl) {
  const exec::LiveCounters& live = impl.engine().counters();
  const auto get = [](const std::atomic<std::uint64_t>& value) {
    return value.load(std::memory_order_relaxed);
  };
  return {get(live.operations), get(live.bytes_in), get(live.bytes_sent), get(live.bytes_received),
          get(live.yields),     get(live.sleeps),   get(live.failures),   get(live.single_copies)};
}

namespace {
std::string indented(const std::string& lines) {
  std::string text;
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = lines.find('\n', begin);
    text += "    " + lines.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return text;
}

/// The drawing of what was said to be cabled, or of what would be: this version does not look.
std::string fabric_text(const Setup& setup) {
  constexpr int kWidestDrawing = 16;
  const int size = setup.launch.size;
  if (size == 1) return {};
  const auto fabric = setup.fabric.value_or(
      topology::Fabric{size == 2 ? topology::FabricKind::pair : topology::FabricKind::ring, size});
  std::string text = fmt::format("  fabric: {}{}\n", topology::to_string(fabric),
                                 setup.fabric ? "" : " (assumed, because SIRCL_FABRIC is auto)");
  if (setup.fabric || size <= kWidestDrawing) {
    text += indented(topology::draw(fabric, topology::Placement::identity(size)));
  }
  return text;
}
}  // namespace

std::string describe(CommunicatorImpl& impl) {
  const Setup& setup = impl.setup();
  Engine& engine = impl.engine();
  std::string text = fmt::format(
      "sircl {}: {} ranks, this is rank {}, found by {}\n"
      "  Transport: sircl ({}), NCCL: absent\n"
      "  all_reduce: 4 KiB by {}, 1 MiB by {}; kernels: {}\n"
      "  hosts: {}\n"
      "  memory: {}\n",
      version(), impl.size(), impl.rank(), setup.launch.source, engine.transport().name(),
      schedule::to_string(
          engine.selection().choose(schedule::Collective::all_reduce, 4096).algorithm),
      schedule::to_string(
          engine.selection().choose(schedule::Collective::all_reduce, 1 << 20).algorithm),
      reduce::active_target(), setup.hosts.to_string(), setup.memory);
  if (const auto* board = engine.transport().board(); board != nullptr) {
    text += board->peer_memory() != nullptr
                ? "  large blocks: read straight from the other ranks' buffers\n"
                : "  large blocks: copied by way of shared memory\n";
  }
  text += fabric_text(setup);
  for (const config::Setting& setting : config::registry()) {
    if (setup.settings.text(setting.name) == setting.default_value) continue;
    text += fmt::format("  {}={} (from {})\n", setting.name,
                        setting.secret ? "***" : setup.settings.text(setting.name),
                        setup.settings.source(setting.name));
  }
  text.pop_back();
  return text;
}

std::string counters_json(CommunicatorImpl& impl) {
  const Counters c = read_counters(impl);
  return fmt::format(
      R"({{"rank":{},"size":{},"transport":"{}","operations":{},"bytes_in":{},"bytes_sent":{},)"
      R"("bytes_received":{},"yields":{},"sleeps":{},"failures":{},"single_copies":{}}})",
      impl.rank(), impl.size(), impl.engine().transport().name(), c.operations, c.bytes_in,
      c.bytes_sent, c.bytes_received, c.yields, c.sleeps, c.failures, c.single_copies);
}

std::string counters_prometheus(CommunicatorImpl& impl) {
  const Counters c = read_counters(impl);
  const std::string labels = fmt::format("{{rank=\"{}\",transport=\"{}\"}}", impl.rank(),
                                         impl.engine().transport().name());
  std::string text;
  const auto add = [&](const char* name, const char* help, std::uint64_t value) {
    text += fmt::format(
        "# HELP sircl_{0}_total {1}\n# TYPE sircl_{0}_total counter\nsircl_{0}_total{2} {3}\n",
        name, help, labels, value);
  };
  add("operations", "Operations completed", c.operations);
  add("bytes_in", "User payload handed in, bytes", c.bytes_in);
  add("bytes_sent", "Bytes put to other ranks", c.bytes_sent);
  add("bytes_received", "Bytes read from other ranks", c.bytes_received);
  add("yields", "Times a wait gave up the processor", c.yields);
  add("sleeps", "Times a wait slept on an event", c.sleeps);
  add("failures", "Operations that returned an error", c.failures);
  add("single_copies", "Collectives that read straight from other ranks' buffers", c.single_copies);
  return text;
}

}  // namespace sircl::detail
