// Peer: an MPI library. Compiled once against Open MPI and once against MPICH.
// usage: mpirun ... peer_X SOCKET
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "half.hpp"
#include "local_ranks/pinning.hpp"
#include "peer_server.hpp"

namespace sircl::bench {
namespace {

/// bf16 and f16 have no MPI type: two opaque bytes and a user function, as frameworks do it.
template <float (*Widen)(std::uint16_t), std::uint16_t (*Narrow)(float)>
void add_halves(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  const auto* a = static_cast<const std::uint16_t*>(in);
  auto* b = static_cast<std::uint16_t*>(inout);
  for (int i = 0; i < *count; ++i) b[i] = Narrow(Widen(a[i]) + Widen(b[i]));
}

MPI_Datatype mpi_type(DataType type) {
  switch (type) {
    case DataType::f64:
      return MPI_DOUBLE;
    case DataType::f32:
      return MPI_FLOAT;
    case DataType::f16:
    case DataType::bf16:
      return MPI_UINT16_T;
    case DataType::f8e4m3:
    case DataType::f8e5m2:
    case DataType::u8:
      return MPI_UINT8_T;
    case DataType::i8:
      return MPI_INT8_T;
    case DataType::i32:
      return MPI_INT32_T;
    case DataType::u32:
      return MPI_UINT32_T;
    case DataType::i64:
      return MPI_INT64_T;
    case DataType::u64:
      return MPI_UINT64_T;
  }
  return MPI_DATATYPE_NULL;
}

class MpiPeer final : public Peer {
 public:
  MpiPeer() {
    MPI_Op_create(add_halves<widen_bf16, narrow_bf16>, 1, &add_bf16_);
    MPI_Op_create(add_halves<widen_f16, narrow_f16>, 1, &add_f16_);
  }

  std::function<bool()> prepare(const Case& measured, std::string& reason) override {
    const Shape& shape = measured.shape();
    const MPI_Op op = mpi_op(shape);
    if (reduces(shape.collective) && op == MPI_OP_NULL) {
      reason = "MPI has no such operation on this type";
      return {};
    }
    const auto count = static_cast<int>(measured.count());
    const MPI_Datatype type = mpi_type(shape.type);
    const bool same = shape.in_place;
    const void* in = same ? MPI_IN_PLACE : measured.in();
    const void* root_in = same && is_root() ? MPI_IN_PLACE : measured.in();
    void* out = same && shape.collective == Collective::reduce_scatter
                    ? const_cast<std::byte*>(measured.in())
                    : measured.out();
    const auto ok = [](int code) { return code == MPI_SUCCESS; };
    const MPI_Comm all = MPI_COMM_WORLD;
    switch (shape.collective) {
      case Collective::all_reduce:
        return [=] { return ok(MPI_Allreduce(in, out, count, type, op, all)); };
      case Collective::all_gather:
        return [=] { return ok(MPI_Allgather(in, count, type, out, count, type, all)); };
      case Collective::reduce_scatter:
        return [=] { return ok(MPI_Reduce_scatter_block(in, out, count, type, op, all)); };
      case Collective::broadcast:
        reason = "MPI broadcasts in place only";
        if (!same) return {};
        return [=] { return ok(MPI_Bcast(out, count, type, 0, all)); };
      case Collective::reduce:
        return [=] { return ok(MPI_Reduce(root_in, out, count, type, op, 0, all)); };
      case Collective::gather:
        return [=] { return ok(MPI_Gather(in, count, type, out, count, type, 0, all)); };
      case Collective::scatter:
        return [=] { return ok(MPI_Scatter(in, count, type, out, count, type, 0, all)); };
      case Collective::all_to_all:
        return [=] { return ok(MPI_Alltoall(in, count, type, out, count, type, all)); };
      case Collective::send_recv: {
        const int next = (rank() + 1) % ranks();
        const int previous = (rank() + ranks() - 1) % ranks();
        return [=] {
          return ok(MPI_Sendrecv(in, count, type, next, 0, out, count, type, previous, 0, all,
                                 MPI_STATUS_IGNORE));
        };
      }
      case Collective::barrier:
        return [=] { return ok(MPI_Barrier(all)); };
    }
    return {};
  }

  static int rank() {
    int value = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &value);
    return value;
  }
  static int ranks() {
    int value = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &value);
    return value;
  }

 private:
  static bool is_root() { return rank() == 0; }

  [[nodiscard]] MPI_Op mpi_op(const Shape& shape) const {
    switch (shape.type) {
      case DataType::f16:
        return shape.op == ReduceOp::sum ? add_f16_ : MPI_OP_NULL;
      case DataType::bf16:
        return shape.op == ReduceOp::sum ? add_bf16_ : MPI_OP_NULL;
      case DataType::f8e4m3:
      case DataType::f8e5m2:
        return MPI_OP_NULL;
      case DataType::f64:
      case DataType::f32:
      case DataType::i8:
      case DataType::u8:
      case DataType::i32:
      case DataType::u32:
      case DataType::i64:
      case DataType::u64:
        break;
    }
    switch (shape.op) {
      case ReduceOp::sum:
        return MPI_SUM;
      case ReduceOp::product:
        return MPI_PROD;
      case ReduceOp::min:
        return MPI_MIN;
      case ReduceOp::max:
        return MPI_MAX;
      case ReduceOp::average:
        return MPI_OP_NULL;
    }
    return MPI_OP_NULL;
  }

  MPI_Op add_bf16_ = MPI_OP_NULL;
  MPI_Op add_f16_ = MPI_OP_NULL;
};

/// Known before MPI_Init, so that helper threads of the library are pinned too.
int launcher_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}) {
    if (const char* text = std::getenv(name)) return std::atoi(text);
  }
  return 0;
}

}  // namespace
}  // namespace sircl::bench

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s SOCKET, started by the bench\n", argv[0]);
    return 2;
  }
  sircl::local::pin_to_core_of(sircl::bench::launcher_rank());
  MPI_Init(nullptr, nullptr);
  int code = 0;
  {
    sircl::bench::MpiPeer peer;
    code = sircl::bench::serve(argv[1], peer.rank(), peer.ranks(), peer);
  }
  MPI_Finalize();
  return code;
}
