// The public calls: check the arguments, describe the operation, hand it to the engine.
#include "sircl/communicator.hpp"

#include <numeric>
#include <utility>

#include "comm/communicator_impl.hpp"
#include "comm/validate.hpp"

namespace sircl {

using detail::BufferCheck;
using detail::Job;
using schedule::Collective;

namespace {

/// First check that fails wins.
Status first_error(std::initializer_list<Status> checks) {
  for (const Status& status : checks) {
    if (!status.ok()) return status;
  }
  return {};
}

exec::Operation operation(Collective collective, const void* in, void* out, std::size_t count,
                          DataType type, ReduceOp op = ReduceOp::sum, int root = 0) {
  exec::Operation result;
  result.collective = collective;
  result.in = in;
  result.out = out;
  result.count = count;
  result.type = type;
  result.op = op;
  result.root = root;
  return result;
}

struct Prepared {
  Status status;
  exec::Operation operation;
};

Prepared prepare(detail::CommunicatorImpl& impl, const char* call, Collective collective,
                 const void* in, void* out, std::size_t count, DataType type, ReduceOp op,
                 int root) {
  const auto ranks = static_cast<std::size_t>(impl.size());
  const auto rank = static_cast<std::size_t>(impl.rank());
  const bool is_root = impl.rank() == root;
  BufferCheck check{call, in, out, count, count, 0, 0};
  switch (collective) {
    case Collective::all_reduce:
    case Collective::barrier:
      break;
    case Collective::all_gather:
      check.out_elements = ranks * count;
      check.in_place_out = rank * count;
      break;
    case Collective::reduce_scatter:
      check.in_elements = ranks * count;
      check.in_place_in = rank * count;
      break;
    case Collective::broadcast:
      if (!is_root) check.in_elements = 0;
      break;
    case Collective::reduce:
      if (!is_root) check.out_elements = 0;
      break;
    case Collective::gather:
      check.out_elements = is_root ? ranks * count : 0;
      check.in_place_out = rank * count;
      break;
    case Collective::scatter:
      check.in_elements = is_root ? ranks * count : 0;
      check.in_place_in = rank * count;
      break;
    case Collective::all_to_all:
      check.in_elements = check.out_elements = ranks * count;
      check.in_place_in = ranks * count;  // never in place
      break;
  }
  Status status = detail::check_type(call, type, op);
  if (status.ok()) {
    status = first_error({detail::check_rank(call, "root", root, impl.size()),
                          detail::check_count(call, count, ranks, type),
                          detail::check_buffers(check, type)});
  }
  return {std::move(status), operation(collective, in, out, count, type, op, root)};
}

}  // namespace

#define SIRCL_RUN(call, collective, in, out, count, type, op, root)                              \
  auto prepared = prepare(*impl_, call, Collective::collective, in, out, count, type, op, root); \
  if (!prepared.status.ok()) return prepared.status;                                             \
  return detail::run_or_collect(impl_, std::move(prepared.operation))

#define SIRCL_SUBMIT(call, collective, in, out, count, type, op, root)                           \
  auto prepared = prepare(*impl_, call, Collective::collective, in, out, count, type, op, root); \
  if (!prepared.status.ok()) return prepared.status;                                             \
  return detail::submit_or_collect(impl_, std::move(prepared.operation))

Status Communicator::all_reduce(const void* in, void* out, std::size_t count, DataType type,
                                ReduceOp op) {
  SIRCL_RUN("all_reduce", all_reduce, in, out, count, type, op, 0);
}
Status Communicator::all_gather(const void* in, void* out, std::size_t count, DataType type) {
  SIRCL_RUN("all_gather", all_gather, in, out, count, type, ReduceOp::sum, 0);
}
Status Communicator::reduce_scatter(const void* in, void* out, std::size_t count, DataType type,
                                    ReduceOp op) {
  SIRCL_RUN("reduce_scatter", reduce_scatter, in, out, count, type, op, 0);
}
Status Communicator::broadcast(const void* in, void* out, std::size_t count, DataType type,
                               int root) {
  SIRCL_RUN("broadcast", broadcast, in, out, count, type, ReduceOp::sum, root);
}
Status Communicator::reduce(const void* in, void* out, std::size_t count, DataType type,
                            ReduceOp op, int root) {
  SIRCL_RUN("reduce", reduce, in, out, count, type, op, root);
}
Status Communicator::gather(const void* in, void* out, std::size_t count, DataType type, int root) {
  SIRCL_RUN("gather", gather, in, out, count, type, ReduceOp::sum, root);
}
Status Communicator::scatter(const void* in, void* out, std::size_t count, DataType type,
                             int root) {
  SIRCL_RUN("scatter", scatter, in, out, count, type, ReduceOp::sum, root);
}
Status Communicator::all_to_all(const void* in, void* out, std::size_t count, DataType type) {
  SIRCL_RUN("all_to_all", all_to_all, in, out, count, type, ReduceOp::sum, 0);
}
Status Communicator::barrier() {
  SIRCL_RUN("barrier", barrier, nullptr, nullptr, 0, DataType::u8, ReduceOp::sum, 0);
}

Result<Work> Communicator::all_reduce_async(const void* in, void* out, std::size_t count,
                                            DataType type, ReduceOp op) {
  SIRCL_SUBMIT("all_reduce", all_reduce, in, out, count, type, op, 0);
}
Result<Work> Communicator::all_gather_async(const void* in, void* out, std::size_t count,
                                            DataType type) {
  SIRCL_SUBMIT("all_gather", all_gather, in, out, count, type, ReduceOp::sum, 0);
}
Result<Work> Communicator::reduce_scatter_async(const void* in, void* out, std::size_t count,
                                                DataType type, ReduceOp op) {
  SIRCL_SUBMIT("reduce_scatter", reduce_scatter, in, out, count, type, op, 0);
}
Result<Work> Communicator::broadcast_async(const void* in, void* out, std::size_t count,
                                           DataType type, int root) {
  SIRCL_SUBMIT("broadcast", broadcast, in, out, count, type, ReduceOp::sum, root);
}
Result<Work> Communicator::reduce_async(const void* in, void* out, std::size_t count, DataType type,
                                        ReduceOp op, int root) {
  SIRCL_SUBMIT("reduce", reduce, in, out, count, type, op, root);
}
Result<Work> Communicator::gather_async(const void* in, void* out, std::size_t count, DataType type,
                                        int root) {
  SIRCL_SUBMIT("gather", gather, in, out, count, type, ReduceOp::sum, root);
}
Result<Work> Communicator::scatter_async(const void* in, void* out, std::size_t count,
                                         DataType type, int root) {
  SIRCL_SUBMIT("scatter", scatter, in, out, count, type, ReduceOp::sum, root);
}
Result<Work> Communicator::all_to_all_async(const void* in, void* out, std::size_t count,
                                            DataType type) {
  SIRCL_SUBMIT("all_to_all", all_to_all, in, out, count, type, ReduceOp::sum, 0);
}
Result<Work> Communicator::barrier_async() {
  SIRCL_SUBMIT("barrier", barrier, nullptr, nullptr, 0, DataType::u8, ReduceOp::sum, 0);
}

#undef SIRCL_RUN
#undef SIRCL_SUBMIT

Status Communicator::all_gather(const void* in, void* out, std::span<const std::size_t> counts,
                                DataType type) {
  const char* call = "all_gather";
  const auto ranks = static_cast<std::size_t>(size());
  if (counts.size() != ranks) {
    return {StatusCode::invalid_argument,
            "all_gather: counts has " + std::to_string(counts.size()) + " entries; one per rank, " +
                std::to_string(ranks) + ", is needed"};
  }
  if (Status status = detail::check_type(call, type); !status.ok()) return status;
  std::size_t total = 0;
  for (const std::size_t count : counts) {
    if (Status status = detail::check_count(call, count, ranks, type); !status.ok()) return status;
    total += count;
  }
  const auto before = counts.subspan(0, static_cast<std::size_t>(rank()));
  const BufferCheck check{call,
                          in,
                          out,
                          counts[static_cast<std::size_t>(rank())],
                          total,
                          0,
                          std::accumulate(before.begin(), before.end(), std::size_t{0})};
  if (Status status = detail::check_buffers(check, type); !status.ok()) return status;
  auto gather = operation(Collective::all_gather, in, out, 0, type);
  gather.counts.assign(counts.begin(), counts.end());
  return detail::run_or_collect(impl_, std::move(gather));
}

namespace {

exec::Transfer transfer(bool outgoing, int peer, const void* data, std::size_t count,
                        DataType type) {
  exec::Transfer result;
  result.outgoing = outgoing;
  result.peer = peer;
  result.data = const_cast<std::byte*>(static_cast<const std::byte*>(data));
  result.bytes = count * size_of(type);
  return result;
}

Status check_transfer(const char* call, const char* what, int peer, int ranks, const void* data,
                      std::size_t count, DataType type) {
  if (Status status = detail::check_type(call, type); !status.ok()) return status;
  BufferCheck check{call, data, nullptr, count, 0, 0, 0};
  return first_error({detail::check_rank(call, what, peer, ranks),
                      detail::check_count(call, count, 1, type),
                      detail::check_buffers(check, type)});
}

}  // namespace

Status Communicator::all_to_all(const void* in, void* out, std::span<const std::size_t> send_counts,
                                std::span<const std::size_t> receive_counts, DataType type) {
  const auto ranks = static_cast<std::size_t>(size());
  if (send_counts.size() != ranks || receive_counts.size() != ranks) {
    return {StatusCode::invalid_argument,
            "all_to_all: send_counts and receive_counts need one entry per rank, " +
                std::to_string(ranks)};
  }
  if (Status status = detail::check_type("all_to_all", type); !status.ok()) return status;
  std::size_t sends = 0;
  std::size_t receives = 0;
  for (std::size_t peer = 0; peer < ranks; ++peer) {
    if (Status status =
            first_error({detail::check_count("all_to_all", send_counts[peer], ranks, type),
                         detail::check_count("all_to_all", receive_counts[peer], ranks, type)});
        !status.ok()) {
      return status;
    }
    sends += send_counts[peer];
    receives += receive_counts[peer];
  }
  const BufferCheck check{"all_to_all", in, out, sends, receives, sends, 0};
  if (Status status = detail::check_buffers(check, type); !status.ok()) return status;
  // One message per pair, all at once.
  if (Status status = group_start(); !status.ok()) return status;
  const auto* from = static_cast<const std::byte*>(in);
  auto* to = static_cast<std::byte*>(out);
  for (int peer = 0; peer < size(); ++peer) {
    const auto index = static_cast<std::size_t>(peer);
    (void)detail::run_or_collect(impl_, transfer(true, peer, from, send_counts[index], type));
    (void)detail::run_or_collect(impl_, transfer(false, peer, to, receive_counts[index], type));
    from += send_counts[index] * size_of(type);
    to += receive_counts[index] * size_of(type);
  }
  return group_end();
}

Status Communicator::send(const void* data, std::size_t count, DataType type, int destination) {
  if (Status status = check_transfer("send", "destination", destination, size(), data, count, type);
      !status.ok()) {
    return status;
  }
  return detail::run_or_collect(impl_, transfer(true, destination, data, count, type));
}

Status Communicator::receive(void* data, std::size_t count, DataType type, int source) {
  if (Status status = check_transfer("receive", "source", source, size(), data, count, type);
      !status.ok()) {
    return status;
  }
  return detail::run_or_collect(impl_, transfer(false, source, data, count, type));
}

Result<Work> Communicator::send_async(const void* data, std::size_t count, DataType type,
                                      int destination) {
  if (Status status = check_transfer("send", "destination", destination, size(), data, count, type);
      !status.ok()) {
    return status;
  }
  return detail::submit_or_collect(impl_, transfer(true, destination, data, count, type));
}

Result<Work> Communicator::receive_async(void* data, std::size_t count, DataType type, int source) {
  if (Status status = check_transfer("receive", "source", source, size(), data, count, type);
      !status.ok()) {
    return status;
  }
  return detail::submit_or_collect(impl_, transfer(false, source, data, count, type));
}

Status Work::wait() { return state_ ? state_->wait() : Status(); }
bool Work::done() const noexcept { return !state_ || state_->done(); }

int Communicator::rank() const noexcept { return impl_->rank(); }
int Communicator::size() const noexcept { return impl_->size(); }
void Communicator::abort(std::string_view reason) { impl_->abort(reason); }
Status Communicator::status() const { return impl_->engine().failure().status(); }
Counters Communicator::counters() const { return detail::read_counters(*impl_); }
std::string Communicator::counters_json() const { return detail::counters_json(*impl_); }
std::string Communicator::counters_prometheus() const {
  return detail::counters_prometheus(*impl_);
}
std::string Communicator::describe() const { return detail::describe(*impl_); }
std::string Communicator::transport() const { return impl_->engine().transport().name(); }

std::string Communicator::algorithm_for(std::string_view collective, std::size_t bytes) const {
  // Point to point, every pair of ranks has a channel of its own.
  for (const char* name : {"send", "receive", "send_recv"}) {
    if (collective == name) return "direct";
  }
  const auto parsed = schedule::parse_collective(collective);
  if (!parsed) return "unknown";
  return std::string(
      schedule::to_string(impl_->engine().selection().choose(*parsed, bytes).algorithm));
}

}  // namespace sircl
