#include "comm/engine.hpp"

#include <sched.h>

#include <utility>

namespace sircl::detail {
namespace {

constexpr std::chrono::milliseconds kServingNap{20};
constexpr std::chrono::microseconds kSeatNap{500};
constexpr std::chrono::milliseconds kTendEvery{5};
constexpr std::chrono::milliseconds kDrainLimit{2000};
constexpr std::chrono::milliseconds kLingerLimit{5000};

SelectionRules on_path(SelectionRules rules) {
  if (rules.wiring == schedule::Wiring::ring) rules.wiring = schedule::Wiring::path;
  return rules;
}

}  // namespace

Status WorkState::wait() {
  if (!done()) {
    if (const auto engine = engine_.lock()) return engine->wait(*this);
  }
  done_.wait(false, std::memory_order_acquire);
  return status_;
}

Engine::Engine(const EngineOptions& options, std::unique_ptr<transport::Transport> transport,
               std::function<Status(const Status&)> verdict)
    : options_(options),
      transport_(std::move(transport)),
      verdict_(std::move(verdict)),
      waiter_(options.waiter, failure_, transport_.get(), counters_),
      channels_(*transport_, options.ranks, options.shape),
      usual_selection_(options.selection),
      path_selection_(on_path(options.selection)),
      selection_(&usual_selection_),
      streams_(
          channels_, options.rank, options.ranks,
          {options.order, options.shape, options.far_slots, usual_selection_.min_slice_bytes()},
          waiter_, counters_),
      transfers_(channels_, options.rank, options.ranks, options.shape.slot_bytes, counters_),
      must_serve_(transport_->must_serve()) {
  if (transport::Board* board = transport_->board(); board != nullptr) {
    board_sync_ = std::make_unique<exec::BoardSync>(*board, waiter_);
    boards_ =
        std::make_unique<exec::BoardExecutor>(*board, options.piece_bytes, *board_sync_, counters_);
    if (const auto* memory = board->peer_memory(); memory != nullptr) {
      single_copy_ =
          std::make_unique<exec::SingleCopyExecutor>(*board, *memory, options.single_copy_min_bytes,
                                                     *board_sync_, *boards_, failure_, counters_);
    }
  }
  waiter_.set_idle([this] { idle(); });
  waiter_.set_slow([this](bool first) { slow(first); });
  transfers_.set_on_probe([this](int peer, const transport::OperationTag& tag) {
    if (current_ == nullptr || tag.sequence != current_->tag.sequence ||
        tag.signature() == current_->tag.signature()) {
      return;
    }
    (void)conclude(exec::mismatch(options_.rank, current_->tag, peer, tag));
  });
  if (must_serve_) {
    serving_ = true;
    server_ = std::thread([this] { serve(); });
  }
}

Engine::~Engine() { stop(); }

Status Engine::run(Job job) {
  if (failure_.failed()) return failure_.status();
  // The common case: a collective, nobody drives, nothing is queued. One exchange, no lock.
  if (auto* operation = std::get_if<exec::Operation>(&job); operation != nullptr && take_seat()) {
    if (queued_.load(std::memory_order_acquire) == 0 && collectives_.empty()) {
      Status status = execute(*operation);
      leave_seat();
      return status;
    }
    leave_seat();
  }
  const auto work = submit(std::move(job), false);
  return wait(*work);
}

std::shared_ptr<WorkState> Engine::submit(Job job, bool wake_worker) {
  auto work = std::make_shared<WorkState>(weak_from_this());
  {
    const std::lock_guard lock(queue_mutex_);
    queue_.push_back({std::move(job), work});
    queued_.store(queue_.size(), std::memory_order_release);
    if (wake_worker) {
      unfinished_ = true;
      start_worker();
    }
  }
  if (wake_worker) queue_filled_.notify_one();
  if (driving_.load(std::memory_order_relaxed)) transport_->wake();
  return work;
}

Status Engine::wait(WorkState& work) {
  Backoff backoff(options_.waiter.policy);
  while (!work.done()) {
    if (take_seat()) {
      drive(&work);
      leave_seat();
      continue;
    }
    // Somebody else drives and sees the queue; sleep lightly, for it may leave the seat first.
    if (backoff.pause()) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return work.status_;
}

void Engine::leave_seat() noexcept {
  const bool open = !transfers_.idle() || !collectives_.empty();
  driving_.store(false, std::memory_order_release);
  if (!open && queued_.load(std::memory_order_acquire) == 0) return;
  {
    const std::lock_guard lock(queue_mutex_);
    unfinished_ = true;
    if (worker_.joinable()) queue_filled_.notify_one();
  }
}

void Engine::start_worker() {
  if (!worker_.joinable() && !stopping_) worker_ = std::thread([this] { work(); });
}

void Engine::work() {
  while (true) {
    {
      std::unique_lock lock(queue_mutex_);
      queue_filled_.wait(lock, [this] { return stopping_ || unfinished_ || !queue_.empty(); });
      if (stopping_) return;
      unfinished_ = false;
    }
    Backoff backoff(options_.waiter.policy);
    while (!take_seat()) {
      if (backoff.pause()) std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    drive(nullptr);
    leave_seat();
  }
}

void Engine::serve() {
  while (serving_.load(std::memory_order_acquire)) {
    if (take_seat()) {
      serve_once();
      leave_seat();
      transport_->rest(kServingNap);
    } else {
      // Whoever drives serves as well.
      std::this_thread::sleep_for(kSeatNap);
    }
  }
}

void Engine::drain_queue() {
  if (queued_.load(std::memory_order_acquire) == 0) return;
  std::deque<Queued> taken;
  {
    const std::lock_guard lock(queue_mutex_);
    taken.swap(queue_);
    queued_.store(0, std::memory_order_release);
  }
  for (Queued& queued : taken) {
    if (auto* transfer = std::get_if<exec::Transfer>(&queued.job)) {
      transfer->finished = [this, work = std::move(queued.work)](const Status& status) {
        count(status);
        work->finish(status);
      };
      transfers_.post(std::move(*transfer));
    } else {
      collectives_.push_back(std::move(queued));
    }
  }
}

void Engine::count(const Status& status) {
  exec::LiveCounters::add(status.ok() ? counters_.operations : counters_.failures, 1);
}

void Engine::drive(const WorkState* until) {
  while (until == nullptr || !until->done()) {
    drain_queue();
    if (failure_.failed()) {
      const Status status = failure_.status();
      transfers_.fail_all(status);
      while (!collectives_.empty()) {
        collectives_.front().work->finish(status);
        collectives_.pop_front();
      }
      if (queued_.load(std::memory_order_acquire) == 0) return;
      continue;
    }
    if (!collectives_.empty()) {
      Queued queued = std::move(collectives_.front());
      collectives_.pop_front();
      Status status = execute(std::get<exec::Operation>(queued.job));
      queued.work->finish(std::move(status));
      continue;
    }
    if (transfers_.idle()) return;
    Status broken;
    bool moved = false;
    const Status waited = waiter_.wait(transfers_.awaited_peer(), [&] {
      broken = transfers_.progress(moved);
      // The idle work of a wait takes from the queue too, so a collective may already stand here.
      return moved || !broken.ok() || queued_.load(std::memory_order_acquire) > 0 ||
             !collectives_.empty() || transfers_.idle();
    });
    if (!broken.ok()) (void)conclude(broken);
    if (!waited.ok()) (void)conclude(waited);
  }
}

void Engine::serve_once() {
  transport_->serve();
  const auto now = std::chrono::steady_clock::now();
  if (now < next_tend_) return;
  next_tend_ = now + kTendEvery;
  channels_.tend();
  if (!options_.tend || failure_.failed()) return;
  if (Status status = options_.tend(); !status.ok()) (void)conclude(status);
}

void Engine::idle() {
  if (must_serve_) serve_once();
  if (queued_.load(std::memory_order_relaxed) > 0) drain_queue();
  if (transfers_.idle()) return;
  bool moved = false;
  if (Status status = transfers_.progress(moved); !status.ok()) (void)conclude(status);
}

void Engine::slow(bool first) {
  // On boards every operation is compared by itself.
  if (boards_ != nullptr || options_.ranks == 1) return;
  if (first && current_ != nullptr) transfers_.probe(current_->tag);
  transfers_.take_probes();
}

Status Engine::execute(exec::Operation& operation) {
  if (failure_.failed()) return failure_.status();
  current_ = &operation;
  Status status = execute_inner(operation);
  current_ = nullptr;
  if (!status.ok()) status = conclude(status);
  count(status);
  return status;
}

Status Engine::enter_fabric(std::uint64_t sequence) {
  Status status = waiter_.wait(-1, [&] { return options_.fabric->may_start(sequence); });
  if (!status.ok()) return status;
  if (auto order = options_.fabric->change_before(sequence)) {
    const bool usual = order->wiring == options_.selection.wiring;
    selection_.store(usual ? &usual_selection_ : &path_selection_);
    streams_.set_order(*std::move(order));
  }
  return {};
}

Status Engine::execute_inner(exec::Operation& operation) {
  const std::uint64_t sequence = ++sequence_;
  if (options_.fabric) {
    if (Status status = enter_fabric(sequence); !status.ok()) return status;
  }
  const std::size_t bytes = exec::longest_block(operation) * size_of(operation.type);
  const Choice choice = selection().choose(operation.collective, bytes);
  operation.algorithm = choice.algorithm;
  transport::OperationTag& tag = operation.tag;
  tag.sequence = sequence;
  tag.count = operation.count;
  tag.root = operation.root;
  tag.kind = static_cast<std::uint8_t>(operation.collective);
  tag.type = static_cast<std::uint8_t>(operation.type);
  tag.op = static_cast<std::uint8_t>(operation.op);
  tag.algorithm = static_cast<std::uint8_t>(operation.algorithm);
  for (const std::size_t count : operation.counts) {
    tag.count += count;
    tag.counts_hash = (tag.counts_hash ^ (count + 1)) * 0x9E3779B97F4A7C15ull;
  }
  exec::LiveCounters::add(counters_.bytes_in, bytes);
  if (choice.on_board) {
    if (single_copy_ && single_copy_->suits(operation)) return single_copy_->run(operation);
    return boards_->run(operation);
  }
  if (boards_ == nullptr) return streams_.run(operation);
  board_sync_->enter(operation);
  if (Status status = streams_.run(operation); !status.ok()) return status;
  return board_sync_->check_all(operation);
}

Status Engine::conclude(const Status& status) {
  if (!failure_.failed()) (void)failure_.set(verdict_ ? verdict_(status) : status);
  return failure_.status();
}

template <typename Done>
void Engine::serve_until(std::chrono::milliseconds limit, const Done& done) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!failure_.failed() && !done() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void Engine::drain_and_leave() {
  if (std::exchange(left_, true)) return;
  serve_until(kDrainLimit, [this] {
    if (!take_seat()) return false;
    const bool taken = channels_.all_taken();
    leave_seat();
    return taken;
  });
  if (options_.say_goodbye) options_.say_goodbye();
}

void Engine::retire() {
  end_work();
  if (server_.joinable()) drain_and_leave();
}

void Engine::end_work() {
  {
    const std::lock_guard lock(queue_mutex_);
    if (stopping_) return;
    stopping_ = true;
  }
  queue_filled_.notify_all();
  // The worker may sit in a wait for a peer: only a failure gets it out of there.
  bool open = queued_.load() > 0;
  if (worker_.joinable() && driving_.load()) open = true;
  if (open) {
    (void)failure_.set(
        {StatusCode::aborted,
         "the communicator was destroyed while operations were running; wait for them first"});
    transport_->wake();
  }
  if (worker_.joinable()) worker_.join();
  if (take_seat()) {
    if (!transfers_.idle() || queued_.load() > 0) {
      (void)failure_.set(
          {StatusCode::aborted,
           "the communicator was destroyed while operations were running; wait for them first"});
    }
    drain_queue();
    if (failure_.failed()) drive(nullptr);
    leave_seat();
  }
}

void Engine::stop() {
  end_work();
  if (std::exchange(stopped_, true)) return;
  if (server_.joinable()) {
    drain_and_leave();
    serve_until(kLingerLimit, [this] { return waiter_.all_left_but(options_.rank); });
    serving_ = false;
    transport_->wake();
    server_.join();
  }
  transport_->close(failure_.failed() ? std::chrono::milliseconds(0)
                                      : std::chrono::milliseconds(2000));
}

}  // namespace sircl::detail
