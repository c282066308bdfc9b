// Runs the operations of one communicator: collectives in order, sends and receives beside them.
//
// Whoever waits drives: a blocking call takes the driver's seat with one atomic exchange and runs
// its operation in the caller's thread. Asynchronous operations are driven by a worker thread,
// which is started with the first of them, or by a thread that waits for one. On cables a further
// thread passes on what is for others whenever nobody else sits in the driver's seat.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <variant>

#include "comm/fabric_state.hpp"
#include "comm/selection.hpp"
#include "comm/work_state.hpp"
#include "exec/board_executor.hpp"
#include "exec/channel_executor.hpp"
#include "exec/point_to_point.hpp"
#include "exec/single_copy_executor.hpp"

namespace sircl::detail {

struct EngineOptions {
  int rank = 0;
  int ranks = 1;
  std::size_t piece_bytes = 0;
  std::size_t single_copy_min_bytes = 0;  ///< on shm, where peers' memory can be read
  transport::WindowShape shape;
  exec::Order order;                     ///< its wiring is that of `selection`
  std::uint32_t far_slots = UINT32_MAX;  ///< of channels through relays, where there are some
  exec::WaiterOptions waiter;
  SelectionRules selection;
  std::shared_ptr<FabricState> fabric;  ///< on cables: which of them operations use
  std::function<void()> say_goodbye;    ///< on cables: tells the group that this rank leaves
  std::function<Status()> tend;  ///< on cables: called often by whoever drives; see CableKeeper
};

using Job = std::variant<exec::Operation, exec::Transfer>;

class Engine : public std::enable_shared_from_this<Engine> {
 public:
  /// `verdict` turns a local failure into the group's: the first that any rank reported.
  Engine(const EngineOptions& options, std::unique_ptr<transport::Transport> transport,
         std::function<Status(const Status&)> verdict);
  ~Engine();

  /// Runs it to its end.
  Status run(Job job);
  /// Queues it. `wake_worker`: false when the caller is going to wait (and so drive) itself.
  std::shared_ptr<WorkState> submit(Job job, bool wake_worker);
  Status wait(WorkState& work);

  [[nodiscard]] Failure& failure() noexcept { return failure_; }
  [[nodiscard]] const exec::LiveCounters& counters() const noexcept { return counters_; }
  [[nodiscard]] transport::Transport& transport() noexcept { return *transport_; }
  /// What carries the next operation; from any thread.
  [[nodiscard]] const Selection& selection() const noexcept { return *selection_.load(); }
  void note_left(int rank) { waiter_.note_left(rank); }
  /// Ends running waits soon after failure() is set.
  void wake() noexcept { transport_->wake(); }
  /// Ends what is open and says goodbye, but goes on passing on what is for others until stop().
  void retire();
  /// Ends what is open, stops the worker, lets sent bytes drain. On cables others may still need
  /// what they sent through this node, so it waits for them to leave too, for some seconds at most.
  /// Idempotent.
  void stop();

 private:
  struct Queued {
    Job job;
    std::shared_ptr<WorkState> work;
  };

  bool take_seat() noexcept { return !driving_.exchange(true, std::memory_order_acquire); }
  void leave_seat() noexcept;
  void drain_queue();
  void drive(const WorkState* until);
  Status execute(exec::Operation& operation);
  Status execute_inner(exec::Operation& operation);
  Status enter_fabric(std::uint64_t sequence);
  void serve_once();
  void end_work();
  void drain_and_leave();
  template <typename Done>
  void serve_until(std::chrono::milliseconds limit, const Done& done);
  Status conclude(const Status& status);
  void count(const Status& status);
  void idle();
  void slow(bool first);
  void work();
  void start_worker();
  void serve();

  EngineOptions options_;
  Failure failure_;
  exec::LiveCounters counters_;
  std::unique_ptr<transport::Transport> transport_;
  std::function<Status(const Status&)> verdict_;
  exec::Waiter waiter_;
  exec::Channels channels_;
  const Selection usual_selection_;
  const Selection path_selection_;  ///< for a ring that lacks a cable
  std::atomic<const Selection*> selection_;
  std::unique_ptr<exec::BoardSync> board_sync_;
  std::unique_ptr<exec::BoardExecutor> boards_;
  std::unique_ptr<exec::SingleCopyExecutor> single_copy_;
  exec::ChannelExecutor streams_;
  exec::PointToPoint transfers_;

  // Owned by whoever sits in the driver's seat.
  std::atomic<bool> driving_{false};
  std::deque<Queued> collectives_;
  std::uint64_t sequence_ = 0;
  const exec::Operation* current_ = nullptr;
  std::chrono::steady_clock::time_point next_tend_;

  std::mutex queue_mutex_;
  std::condition_variable queue_filled_;
  std::deque<Queued> queue_;
  std::atomic<std::size_t> queued_{0};
  bool unfinished_ = false;  ///< under queue_mutex_: open work was left for the worker
  bool stopping_ = false;
  bool left_ = false;     ///< goodbye was said
  bool stopped_ = false;  ///< and nothing is passed on any more
  std::thread worker_;
  std::thread server_;  ///< on cables: passes on for others while nobody drives
  const bool must_serve_;
  std::atomic<bool> serving_{false};
};

}  // namespace sircl::detail
