// Communicator: a group of ranks and its collectives.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "sircl/export.h"
#include "sircl/options.hpp"
#include "sircl/status.hpp"
#include "sircl/types.hpp"

namespace sircl {

namespace detail {
class CommunicatorImpl;
class WorkState;
}  // namespace detail

/// Handle of an asynchronous operation. Buffers belong to the operation until it is done.
/// Dropping the handle does not cancel the operation. Thread-safe.
class SIRCL_API Work {
 public:
  Work() noexcept = default;
  explicit Work(std::shared_ptr<detail::WorkState> state) noexcept : state_(std::move(state)) {}
  /// Waits for the end and returns how it went. An empty handle is done and ok.
  Status wait();
  /// Whether the operation has ended (well or not).
  [[nodiscard]] bool done() const noexcept;

 private:
  std::shared_ptr<detail::WorkState> state_;
};

/// What a communicator has done so far. Monotonic; read at any time from any thread.
struct Counters {
  std::uint64_t operations = 0;      ///< collectives, sends and receives completed
  std::uint64_t bytes_in = 0;        ///< user payload handed in
  std::uint64_t bytes_sent = 0;      ///< bytes put to other ranks (shm: stored for them)
  std::uint64_t bytes_received = 0;  ///< bytes read from other ranks
  std::uint64_t yields = 0;          ///< times a wait gave up the processor
  std::uint64_t sleeps = 0;          ///< times a wait slept on an event
  std::uint64_t failures = 0;        ///< operations that returned an error
  std::uint64_t single_copies = 0;   ///< collectives that read straight from other ranks' buffers
};

/// A group of ranks 0..size-1.
///
/// Every rank calls the same collectives with matching arguments in the same order. Counts are in
/// elements. `in` and `out` are host memory, at any alignment; in-place use is stated per call;
/// other overlap is not allowed. Every collective checks that all the ranks it hears from called the
/// same; a difference is a `mismatch` error on every rank that names both calls.
///
/// Threads: one thread at a time calls operations of one communicator (the order of concurrent
/// calls would be undefined); abort(), status(), counters() and Work may be used from any thread at any time.
/// Different communicators are independent.
///
/// Failure is sticky: after any error other than invalid_argument or unsupported every further call returns the
/// first one. The destructor never hangs.
class SIRCL_API Communicator {
 public:
  /// Rank, size and root from the options, the environment or the launcher. Collective.
  static Result<Communicator> create(const Options& options = {});
  /// The same with an id from make_unique_id.
  static Result<Communicator> create(const UniqueId& id, int rank, int size,
                                     const Options& options = {});

  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;
  ~Communicator();

  [[nodiscard]] int rank() const noexcept;
  [[nodiscard]] int size() const noexcept;

  /// out[i] = op over ranks of in[i]; `count` elements each. In place: in == out.
  Status all_reduce(const void* in, void* out, std::size_t count, DataType type,
                    ReduceOp op = ReduceOp::sum);
  /// out holds size*count elements, rank r's at r*count. In place: in == out + rank*count.
  Status all_gather(const void* in, void* out, std::size_t count, DataType type);
  /// Unequal: rank r contributes counts[r] (size() entries, equal on all ranks), packed in rank
  /// order in out. In place: in == out + sum of counts before this rank.
  Status all_gather(const void* in, void* out, std::span<const std::size_t> counts, DataType type);
  /// in holds size*count; out gets the reduced block `rank`. In place: out == in + rank*count.
  Status reduce_scatter(const void* in, void* out, std::size_t count, DataType type,
                        ReduceOp op = ReduceOp::sum);
  /// Root's `in` reaches `out` of every rank. `in` is read on the root only. In place: in == out.
  Status broadcast(const void* in, void* out, std::size_t count, DataType type, int root);
  /// Like all_reduce; `out` is written on the root only.
  Status reduce(const void* in, void* out, std::size_t count, DataType type, ReduceOp op, int root);
  /// Root's out gets size*count elements in rank order; `out` is used on the root only.
  Status gather(const void* in, void* out, std::size_t count, DataType type, int root);
  /// Root's in holds size*count elements; every rank's out gets its count.
  Status scatter(const void* in, void* out, std::size_t count, DataType type, int root);
  /// Block d of in (count elements) reaches block `rank` of rank d's out. Not in place.
  Status all_to_all(const void* in, void* out, std::size_t count, DataType type);
  /// Unequal: send_counts[d] elements go to d, receive_counts[s] come from s, packed in rank
  /// order. send_counts[d] here equals receive_counts[rank] on d.
  Status all_to_all(const void* in, void* out, std::span<const std::size_t> send_counts,
                    std::span<const std::size_t> receive_counts, DataType type);
  /// Blocks until the receiver has room; messages between two ranks arrive in order, and a receive
  /// names exactly the size that was sent. Sending to oneself works in a group or asynchronously.
  Status send(const void* data, std::size_t count, DataType type, int destination);
  Status receive(void* data, std::size_t count, DataType type, int source);
  /// Returns after every rank has called it.
  Status barrier();

  /// The same operations without waiting. They start in call order; sends and receives progress
  /// beside collectives and beside each other.
  Result<Work> all_reduce_async(const void* in, void* out, std::size_t count, DataType type,
                                ReduceOp op = ReduceOp::sum);
  Result<Work> all_gather_async(const void* in, void* out, std::size_t count, DataType type);
  Result<Work> reduce_scatter_async(const void* in, void* out, std::size_t count, DataType type,
                                    ReduceOp op = ReduceOp::sum);
  Result<Work> broadcast_async(const void* in, void* out, std::size_t count, DataType type,
                               int root);
  Result<Work> reduce_async(const void* in, void* out, std::size_t count, DataType type,
                            ReduceOp op, int root);
  Result<Work> gather_async(const void* in, void* out, std::size_t count, DataType type, int root);
  Result<Work> scatter_async(const void* in, void* out, std::size_t count, DataType type,
                             int root);
  Result<Work> all_to_all_async(const void* in, void* out, std::size_t count, DataType type);
  Result<Work> send_async(const void* data, std::size_t count, DataType type, int destination);
  Result<Work> receive_async(void* data, std::size_t count, DataType type, int source);
  Result<Work> barrier_async();

  /// Typed forms: std::span<const float>, ... (types of DataTypeOf).
  template <typename T>
  Status all_reduce(std::span<const T> in, std::span<T> out, ReduceOp op = ReduceOp::sum) {
    if (in.size() != out.size()) {
      return {StatusCode::invalid_argument, "all_reduce: in and out have different sizes"};
    }
    return all_reduce(in.data(), out.data(), in.size(), DataTypeOf<T>::value, op);
  }
  template <typename T>
  Status all_reduce(std::span<T> in_place, ReduceOp op = ReduceOp::sum) {
    return all_reduce(in_place.data(), in_place.data(), in_place.size(), DataTypeOf<T>::value, op);
  }

  /// New communicators of the ranks with equal `color`, ordered by `key`, then by rank. Collective.
  Result<Communicator> split(int color, int key);

  /// Ends every running and later operation on every rank with `aborted` and this reason.
  void abort(std::string_view reason);
  /// ok, or the sticky failure.
  [[nodiscard]] Status status() const;

  [[nodiscard]] Counters counters() const;
  /// Counters and identity as one JSON object.
  [[nodiscard]] std::string counters_json() const;
  /// The same in the Prometheus text format.
  [[nodiscard]] std::string counters_prometheus() const;
  /// The start-up block: fabric, transport, memory, settings that differ from their default.
  [[nodiscard]] std::string describe() const;
  /// "shm" or "tcp".
  [[nodiscard]] std::string transport() const;
  /// The algorithm that an operation of this collective and size would use ("direct", "ring", ...).
  [[nodiscard]] std::string algorithm_for(std::string_view collective, std::size_t bytes) const;

 private:
  explicit Communicator(std::shared_ptr<detail::CommunicatorImpl> impl) noexcept;
  std::shared_ptr<detail::CommunicatorImpl> impl_;
};

/// Between group_start and group_end the operations of this thread, on any communicators, are only
/// collected (they return ok); group_end runs them, sends and receives at once, and returns the
/// first error. Groups nest; the outermost end runs them. Needed when one thread drives several
/// ranks, and for exchanges in which both sides would send first.
SIRCL_API Status group_start();
SIRCL_API Status group_end();

/// "0.1.0"
[[nodiscard]] SIRCL_API std::string_view version() noexcept;

}  // namespace sircl
