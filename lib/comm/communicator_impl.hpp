// What stands behind a Communicator.
#pragma once

#include <memory>
#include <string>

#include "comm/retired_parts.hpp"
#include "comm/setup.hpp"
#include "sircl/communicator.hpp"

namespace sircl::detail {

class CommunicatorImpl {
 public:
  CommunicatorImpl(std::unique_ptr<Setup> setup, Options options)
      : setup_(std::move(setup)), options_(std::move(options)) {}
  /// A part of `whole` that others may reach through this rank: it is kept by `whole` after its
  /// end, and keeps `whole` until then.
  void be_part(std::shared_ptr<CommunicatorImpl> whole, std::uint64_t number) {
    whole_ = std::move(whole);
    number_ = number;
  }
  ~CommunicatorImpl();

  [[nodiscard]] int rank() const noexcept { return setup_->launch.rank; }
  [[nodiscard]] int size() const noexcept { return setup_->launch.size; }
  [[nodiscard]] Engine& engine() noexcept { return *setup_->engine; }
  [[nodiscard]] Setup& setup() noexcept { return *setup_; }
  void abort(std::string_view reason);
  /// What a part of this communicator is made with.
  [[nodiscard]] const Options& child_options() const noexcept { return options_; }
  [[nodiscard]] RetiredParts& parts() noexcept { return parts_; }

 private:
  std::unique_ptr<Setup> setup_;
  Options options_;
  RetiredParts parts_;
  std::shared_ptr<CommunicatorImpl> whole_;
  std::uint64_t number_ = 0;  ///< among the parts of `whole_`
};

/// Runs the job, or collects it while this thread is in a group.
Status run_or_collect(const std::shared_ptr<CommunicatorImpl>& impl, Job job);
/// The same for asynchronous calls.
Result<Work> submit_or_collect(const std::shared_ptr<CommunicatorImpl>& impl, Job job);

/// Texts about a communicator, see the calls of the same names.
[[nodiscard]] std::string describe(CommunicatorImpl& impl);
[[nodiscard]] std::string counters_json(CommunicatorImpl& impl);
[[nodiscard]] std::string counters_prometheus(CommunicatorImpl& impl);
[[nodiscard]] Counters read_counters(CommunicatorImpl& impl);
/// Writes SIRCL_METRICS_FILE, if it is set; a failure is a warning.
void write_metrics_file(CommunicatorImpl& impl);

}  // namespace sircl::detail
