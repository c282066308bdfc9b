// The transports under test, each as a way to connect N endpoints inside one process.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "transport/lane.hpp"

namespace sircl::test {

/// One transport per rank. Destroy an entry to make that rank leave.
using Endpoints = std::vector<std::unique_ptr<transport::Transport>>;

/// A transport that this suite proves; add a row to all_transports() for a new one.
struct TransportUnderTest {
  std::string name;
  std::function<Endpoints(int ranks, const transport::WindowShape& shape)> connect;
  bool queue_fills = false;   ///< puts can outrun the peer, so that can_put() becomes false
  bool notices_loss = false;  ///< a peer that is gone makes its lanes fail
  bool can_redirect = false;  ///< redirect() does something
};

const std::vector<TransportUnderTest>& all_transports();
const TransportUnderTest& transport_named(const std::string& name);
/// For GENERATE(from_range(...)): a test runs once per transport.
std::vector<std::string> transport_names();

/// A window of `bytes` without channels in it.
transport::WindowShape plain_window(std::size_t bytes);

/// Moves what is under way on all lanes of all endpoints that are there.
void progress_all(Endpoints& endpoints);

/// Polls `done`, moving all lanes, until it holds; false after half a minute, which only a broken
/// transport needs.
template <typename Done>
bool reaches(Endpoints& endpoints, Done&& done) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!done()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    progress_all(endpoints);
    std::this_thread::yield();
  }
  return true;
}

/// The same for one lane whose other end another thread uses.
template <typename Done>
bool reaches(transport::Lane& lane, Done&& done) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!done()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    lane.progress();
    std::this_thread::yield();
  }
  return true;
}

inline std::uint64_t flag(transport::Lane& lane, std::uint64_t offset) {
  return transport::flag_at(lane.window(), offset).load(std::memory_order_acquire);
}

/// Bytes that depend on `seed` and on their place, so that a shifted or stale copy is seen.
std::vector<std::byte> pattern(std::uint64_t seed, std::size_t bytes);
bool holds_pattern(std::span<const std::byte> bytes, std::uint64_t seed);

/// Names in /dev/shm.
std::vector<std::string> names_in_dev_shm();

}  // namespace sircl::test
