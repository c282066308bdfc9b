// The C interface: converts arguments, keeps the last error text, lets nothing through that C could
// not handle.
#include "sircl/sircl.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include "sircl/communicator.hpp"

struct sircl_comm {
  sircl::Communicator comm;
};
struct sircl_work {
  sircl::Work work;
};

namespace {

using sircl::DataType;
using sircl::ReduceOp;
using sircl::Status;
using sircl::StatusCode;

thread_local std::string last_error;

sircl_status done(const Status& status) {
  last_error = status.ok() ? std::string() : status.to_string();
  return static_cast<sircl_status>(status.code());
}

/// Runs `body` (returning a Status) if there is a communicator; memory shortage is an error, not a
/// throw.
template <typename Body>
sircl_status guarded(const sircl_comm* comm, Body&& body) {
  if (comm == nullptr) return done({StatusCode::invalid_argument, "the communicator is NULL"});
  try {
    return done(body(const_cast<sircl_comm*>(comm)->comm));
  } catch (const std::bad_alloc&) {
    return done({StatusCode::resource, "out of memory"});
  }
}

sircl::Result<sircl::Options> parse(const char* const* settings) {
  sircl::Options options;
  for (; settings != nullptr && *settings != nullptr; ++settings) {
    const std::string text = *settings;
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
      return {StatusCode::invalid_setting, "setting '" + text + "' is not of the form NAME=value"};
    }
    options.set(text.substr(0, equals), text.substr(equals + 1));
  }
  return options;
}

template <typename Make>
sircl_status make(const char* const* settings, sircl_comm** comm, Make&& body) {
  if (comm == nullptr)
    return done({StatusCode::invalid_argument, "the place for the communicator is NULL"});
  *comm = nullptr;
  try {
    const auto options = parse(settings);
    if (!options) return done(options.status());
    sircl::Result<sircl::Communicator> made = body(*options);
    if (made) *comm = new sircl_comm{*std::move(made)};
    return done(made.status());
  } catch (const std::bad_alloc&) {
    return done({StatusCode::resource, "out of memory"});
  }
}

template <typename Submit>
sircl_status start(sircl_comm* comm, sircl_work** work, Submit&& submit) {
  if (work == nullptr)
    return done({StatusCode::invalid_argument, "the place for the work is NULL"});
  *work = nullptr;
  return guarded(comm, [&](sircl::Communicator& c) -> Status {
    auto made = submit(c);
    if (made) *work = new sircl_work{*std::move(made)};
    return made.status();
  });
}

DataType type_of(sircl_type type) { return static_cast<DataType>(type); }
ReduceOp op_of(sircl_op op) { return static_cast<ReduceOp>(op); }

std::size_t copy_out(const std::string& from, char* text, std::size_t size) {
  if (text != nullptr && size > 0) {
    const std::size_t part = std::min(from.size(), size - 1);
    std::memcpy(text, from.data(), part);
    text[part] = '\0';
  }
  return from.size();
}

std::span<const std::size_t> per_rank(const std::size_t* counts, const sircl::Communicator& comm) {
  return {counts, counts == nullptr ? 0 : static_cast<std::size_t>(comm.size())};
}

}  // namespace

extern "C" {

const char* sircl_version(void) { return sircl::version().data(); }
const char* sircl_last_error(void) { return last_error.c_str(); }
const char* sircl_status_name(sircl_status status) {
  return sircl::to_string(static_cast<StatusCode>(status)).data();
}

sircl_status sircl_create(const char* const* settings, sircl_comm** comm) {
  return make(settings, comm,
              [](const sircl::Options& o) { return sircl::Communicator::create(o); });
}

sircl_status sircl_make_unique_id(int size, const char* const* settings, sircl_unique_id* id) {
  if (id == nullptr) return done({StatusCode::invalid_argument, "the place for the id is NULL"});
  const auto options = parse(settings);
  if (!options) return done(options.status());
  const auto made = sircl::make_unique_id(size, *options);
  if (made) std::memcpy(id->bytes, made->bytes.data(), sizeof id->bytes);
  return done(made.status());
}

sircl_status sircl_create_with_id(const sircl_unique_id* id, int rank, int size,
                                  const char* const* settings, sircl_comm** comm) {
  if (id == nullptr) return done({StatusCode::invalid_argument, "the id is NULL"});
  sircl::UniqueId copy;
  std::memcpy(copy.bytes.data(), id->bytes, sizeof id->bytes);
  return make(settings, comm, [&](const sircl::Options& o) {
    return sircl::Communicator::create(copy, rank, size, o);
  });
}

sircl_status sircl_split(sircl_comm* comm, int color, int key, sircl_comm** part) {
  if (comm == nullptr) return done({StatusCode::invalid_argument, "the communicator is NULL"});
  return make(nullptr, part, [&](const sircl::Options&) { return comm->comm.split(color, key); });
}

void sircl_destroy(sircl_comm* comm) { delete comm; }
int sircl_rank(const sircl_comm* comm) { return comm == nullptr ? -1 : comm->comm.rank(); }
int sircl_size(const sircl_comm* comm) { return comm == nullptr ? -1 : comm->comm.size(); }

sircl_status sircl_all_reduce(sircl_comm* comm, const void* in, void* out, size_t count,
                              sircl_type type, sircl_op op) {
  return guarded(comm,
                 [&](auto& c) { return c.all_reduce(in, out, count, type_of(type), op_of(op)); });
}
sircl_status sircl_all_gather(sircl_comm* comm, const void* in, void* out, size_t count,
                              sircl_type type) {
  return guarded(comm, [&](auto& c) { return c.all_gather(in, out, count, type_of(type)); });
}
sircl_status sircl_all_gather_v(sircl_comm* comm, const void* in, void* out, const size_t* counts,
                                sircl_type type) {
  return guarded(
      comm, [&](auto& c) { return c.all_gather(in, out, per_rank(counts, c), type_of(type)); });
}
sircl_status sircl_reduce_scatter(sircl_comm* comm, const void* in, void* out, size_t count,
                                  sircl_type type, sircl_op op) {
  return guarded(
      comm, [&](auto& c) { return c.reduce_scatter(in, out, count, type_of(type), op_of(op)); });
}
sircl_status sircl_broadcast(sircl_comm* comm, const void* in, void* out, size_t count,
                             sircl_type type, int root) {
  return guarded(comm, [&](auto& c) { return c.broadcast(in, out, count, type_of(type), root); });
}
sircl_status sircl_reduce(sircl_comm* comm, const void* in, void* out, size_t count,
                          sircl_type type, sircl_op op, int root) {
  return guarded(comm,
                 [&](auto& c) { return c.reduce(in, out, count, type_of(type), op_of(op), root); });
}
sircl_status sircl_gather(sircl_comm* comm, const void* in, void* out, size_t count,
                          sircl_type type, int root) {
  return guarded(comm, [&](auto& c) { return c.gather(in, out, count, type_of(type), root); });
}
sircl_status sircl_scatter(sircl_comm* comm, const void* in, void* out, size_t count,
                           sircl_type type, int root) {
  return guarded(comm, [&](auto& c) { return c.scatter(in, out, count, type_of(type), root); });
}
sircl_status sircl_all_to_all(sircl_comm* comm, const void* in, void* out, size_t count,
                              sircl_type type) {
  return guarded(comm, [&](auto& c) { return c.all_to_all(in, out, count, type_of(type)); });
}
sircl_status sircl_all_to_all_v(sircl_comm* comm, const void* in, void* out,
                                const size_t* send_counts, const size_t* receive_counts,
                                sircl_type type) {
  return guarded(comm, [&](auto& c) {
    return c.all_to_all(in, out, per_rank(send_counts, c), per_rank(receive_counts, c),
                        type_of(type));
  });
}
sircl_status sircl_send(sircl_comm* comm, const void* data, size_t count, sircl_type type,
                        int destination) {
  return guarded(comm, [&](auto& c) { return c.send(data, count, type_of(type), destination); });
}
sircl_status sircl_receive(sircl_comm* comm, void* data, size_t count, sircl_type type,
                           int source) {
  return guarded(comm, [&](auto& c) { return c.receive(data, count, type_of(type), source); });
}
sircl_status sircl_barrier(sircl_comm* comm) {
  return guarded(comm, [](auto& c) { return c.barrier(); });
}

sircl_status sircl_all_reduce_async(sircl_comm* comm, const void* in, void* out, size_t count,
                                    sircl_type type, sircl_op op, sircl_work** work) {
  return start(comm, work, [&](auto& c) {
    return c.all_reduce_async(in, out, count, type_of(type), op_of(op));
  });
}
sircl_status sircl_all_gather_async(sircl_comm* comm, const void* in, void* out, size_t count,
                                    sircl_type type, sircl_work** work) {
  return start(comm, work,
               [&](auto& c) { return c.all_gather_async(in, out, count, type_of(type)); });
}
sircl_status sircl_send_async(sircl_comm* comm, const void* data, size_t count, sircl_type type,
                              int destination, sircl_work** work) {
  return start(comm, work,
               [&](auto& c) { return c.send_async(data, count, type_of(type), destination); });
}
sircl_status sircl_receive_async(sircl_comm* comm, void* data, size_t count, sircl_type type,
                                 int source, sircl_work** work) {
  return start(comm, work,
               [&](auto& c) { return c.receive_async(data, count, type_of(type), source); });
}
sircl_status sircl_work_wait(sircl_work* work) {
  if (work == nullptr) return done({StatusCode::invalid_argument, "the work is NULL"});
  const Status status = work->work.wait();
  delete work;
  return done(status);
}
int sircl_work_done(const sircl_work* work) { return work == nullptr || work->work.done() ? 1 : 0; }

sircl_status sircl_group_start(void) { return done(sircl::group_start()); }
sircl_status sircl_group_end(void) { return done(sircl::group_end()); }

void sircl_abort(sircl_comm* comm, const char* reason) {
  if (comm != nullptr) comm->comm.abort(reason == nullptr ? "no reason given" : reason);
}
sircl_status sircl_comm_status(const sircl_comm* comm) {
  return guarded(comm, [](auto& c) { return c.status(); });
}
void sircl_read_counters(const sircl_comm* comm, sircl_counters* counters) {
  if (comm == nullptr || counters == nullptr) return;
  const sircl::Counters c = comm->comm.counters();
  *counters = {c.operations, c.bytes_in, c.bytes_sent, c.bytes_received,
               c.yields,     c.sleeps,   c.failures,   c.single_copies};
}
size_t sircl_counters_json(const sircl_comm* comm, char* text, size_t size) {
  return copy_out(comm == nullptr ? "{}" : comm->comm.counters_json(), text, size);
}
size_t sircl_describe(const sircl_comm* comm, char* text, size_t size) {
  return copy_out(comm == nullptr ? "" : comm->comm.describe(), text, size);
}

}  // extern "C"
