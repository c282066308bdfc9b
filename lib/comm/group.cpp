// group_start and group_end: operations of one thread that run together.
#include <utility>
#include <vector>

#include "comm/communicator_impl.hpp"

namespace sircl {
namespace detail {
namespace {

struct Collected {
  std::shared_ptr<CommunicatorImpl> impl;
  Job job;
  std::shared_ptr<WorkState> work;  ///< of an asynchronous call, else null
};

thread_local int group_depth = 0;
thread_local std::vector<Collected> group_jobs;

}  // namespace

Status run_or_collect(const std::shared_ptr<CommunicatorImpl>& impl, Job job) {
  if (group_depth == 0) return impl->engine().run(std::move(job));
  group_jobs.push_back({impl, std::move(job), nullptr});
  return {};
}

Result<Work> submit_or_collect(const std::shared_ptr<CommunicatorImpl>& impl, Job job) {
  if (group_depth > 0) {
    return {StatusCode::invalid_argument,
            "asynchronous calls do not go into a group; use the blocking form there, which only "
            "collects, and wait at group_end"};
  }
  if (impl->engine().failure().failed()) return impl->engine().failure().status();
  return Work(impl->engine().submit(std::move(job), true));
}

}  // namespace detail

Status group_start() {
  ++detail::group_depth;
  return {};
}

Status group_end() {
  using detail::group_depth;
  if (group_depth == 0) {
    return {StatusCode::invalid_argument, "group_end without group_start"};
  }
  if (--group_depth > 0) return {};
  auto jobs = std::exchange(detail::group_jobs, {});
  // With several communicators each needs a thread of its own: one may wait for what another does.
  bool several = false;
  for (const auto& job : jobs) several = several || job.impl != jobs.front().impl;
  for (auto& job : jobs) job.work = job.impl->engine().submit(std::move(job.job), several);
  Status first;
  for (auto& job : jobs) {
    Status status = job.impl->engine().wait(*job.work);
    if (first.ok() && !status.ok()) first = std::move(status);
  }
  return first;
}

}  // namespace sircl
