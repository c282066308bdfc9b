// Groups whose ranks are threads of the test, and raw connections that are no ranks at all.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "support/catch.hpp"

namespace sircl::test {

using namespace std::chrono_literals;
using bootstrap::Bytes;
using bootstrap::JoinOptions;
using bootstrap::Member;
using bootstrap::Notice;
using bootstrap::NoticeKind;
using bootstrap::Root;
using bootstrap::RootOptions;

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline RootOptions root_options(int size) {
  RootOptions options;
  options.size = size;
  options.group = "test";
  options.epoch = 7;
  options.startup_timeout = 10s;
  options.linger = 200ms;
  return options;
}

inline std::unique_ptr<Root> start_root(const RootOptions& options) {
  auto root = Root::start(options);
  INFO(root.status().to_string());
  REQUIRE(root.ok());
  return *std::move(root);
}

inline JoinOptions join_options(const Root& root, const RootOptions& terms, int rank) {
  JoinOptions options;
  options.host = root.host();
  options.port = root.port();
  options.rank = rank;
  options.size = terms.size;
  options.group = terms.group;
  options.epoch = terms.epoch;
  options.secret = terms.secret;
  options.label = "host:" + std::to_string(rank);
  options.startup_timeout = 10s;
  return options;
}

/// What a member was told, and a way to wait for it.
class Told {
 public:
  std::function<void(const Notice&)> listener() {
    return [this](const Notice& notice) {
      const std::lock_guard lock(mutex_);
      notices_.push_back(notice);
    };
  }
  std::vector<Notice> notices() const {
    const std::lock_guard lock(mutex_);
    return notices_;
  }
  /// Whether `count` notices came within ten seconds.
  bool wait(std::size_t count) const {
    for (int i = 0; i < 2000 && notices().size() < count; ++i) std::this_thread::sleep_for(5ms);
    return notices().size() >= count;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Notice> notices_;
};

/// Runs body(rank) on a thread per rank and returns their texts; an empty one means well.
inline std::vector<std::string> on_ranks(int size, const std::function<std::string(int)>& body) {
  std::vector<std::string> texts(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] { texts[static_cast<std::size_t>(rank)] = body(rank); });
  }
  for (auto& thread : threads) thread.join();
  return texts;
}

inline Bytes bytes_of(const std::string& text) {
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

}  // namespace sircl::test
