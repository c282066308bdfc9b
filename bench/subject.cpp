#include "subject.hpp"

namespace sircl::bench {
namespace {

Status send_receive(Communicator& comm, const void* in, void* out, std::size_t count,
                    DataType type) {
  const int next = (comm.rank() + 1) % comm.size();
  const int previous = (comm.rank() + comm.size() - 1) % comm.size();
  if (Status status = group_start(); !status.ok()) return status;
  const Status sent = comm.send(in, count, type, next);
  const Status received = comm.receive(out, count, type, previous);
  const Status ended = group_end();
  if (!sent.ok()) return sent;
  return received.ok() ? ended : received;
}

}  // namespace

std::function<Status()> subject(Communicator& communicator, const Case& measured) {
  Communicator* comm = &communicator;
  const Shape& shape = measured.shape();
  const void* in = measured.in();
  void* out = measured.out();
  const std::size_t count = measured.count();
  const DataType type = shape.type;
  const ReduceOp op = shape.op;
  switch (shape.collective) {
    case Collective::all_reduce:
      return [=] { return comm->all_reduce(in, out, count, type, op); };
    case Collective::all_gather:
      return [=] { return comm->all_gather(in, out, count, type); };
    case Collective::reduce_scatter:
      return [=] { return comm->reduce_scatter(in, out, count, type, op); };
    case Collective::broadcast:
      return [=] { return comm->broadcast(in, out, count, type, 0); };
    case Collective::reduce:
      return [=] { return comm->reduce(in, out, count, type, op, 0); };
    case Collective::gather:
      return [=] { return comm->gather(in, out, count, type, 0); };
    case Collective::scatter:
      return [=] { return comm->scatter(in, out, count, type, 0); };
    case Collective::all_to_all:
      return [=] { return comm->all_to_all(in, out, count, type); };
    case Collective::send_recv:
      return [=] { return send_receive(*comm, in, out, count, type); };
    case Collective::barrier:
      return [=] { return comm->barrier(); };
  }
  return {};
}

}  // namespace sircl::bench
