#include "exec/board_sync.hpp"

namespace sircl::exec {

void BoardSync::enter(const Operation& operation) noexcept {
  announce(operation);
  begin_piece(first_flag(operation));
  board_.raise(first_flag(operation));
}

Status BoardSync::await_all(const Operation& operation, std::uint64_t flag) {
  for (int peer = 0; peer < board_.ranks(); ++peer) {
    if (peer == board_.rank()) continue;
    if (Status status = await(operation, peer, flag); !status.ok()) return status;
  }
  return {};
}

Status BoardSync::await_slowly(const Operation& operation, int peer, std::uint64_t flag) {
  if (!board_.reached(peer, flag)) {
    if (Status status = waiter_.wait(peer, [&] { return board_.reached(peer, flag); });
        !status.ok()) {
      return status;
    }
  }
  std::uint64_t& checked = checked_[static_cast<std::size_t>(peer)];
  if (checked == operation.tag.sequence || flag < first_flag(operation)) return {};
  checked = operation.tag.sequence;
  return compare(operation, peer);
}

Status BoardSync::compare(const Operation& operation, int peer) const {
  const std::uint64_t sequence = operation.tag.sequence;
  if (board_.signature(peer, sequence) == operation.tag.signature()) return {};
  return mismatch(board_.rank(), operation.tag, peer, board_.tag(peer, sequence));
}

}  // namespace sircl::exec
