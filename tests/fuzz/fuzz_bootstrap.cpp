// Everything that the hub or a member reads from the network or from a rendezvous file.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>

#include "bootstrap/admission.hpp"
#include "bootstrap/agreement.hpp"
#include "bootstrap/nodelist.hpp"
#include "bootstrap/protocol.hpp"
#include "bootstrap/root_file.hpp"
#include "bootstrap/unique_id.hpp"

using namespace sircl;
using namespace sircl::bootstrap;

namespace {

void require(bool good) {
  if (!good) std::abort();
}

/// A caller that knows no secret never becomes a member.
void as_caller(std::span<const std::byte> bytes) {
  static const Terms terms{"group", 1, 4, "a secret", [](int) { return std::nullopt; }};
  Caller caller(terms);
  auto state = Caller::State::listening;
  while (!bytes.empty() && state == Caller::State::listening && caller.wanted() > 0) {
    const auto piece = bytes.first(std::min({bytes.size(), caller.wanted(), std::size_t{50}}));
    state = caller.hear(piece);
    bytes = bytes.subspan(piece.size());
  }
  require(state != Caller::State::welcome);
}

void as_frames(std::span<const std::byte> bytes) {
  FrameReader reader;
  reader.append(bytes);
  bool broken = false;
  while (const auto frame = reader.next(broken)) {
    require(!broken && frame->payload.size() <= kFrameLimit);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  switch (data[0] % 10) {
    case 0:
      as_caller(bytes);
      break;
    case 1:
      as_frames(bytes);
      break;
    case 2:
      if (const auto notice = decode_notice(bytes)) require(encode(*notice).size() == bytes.size());
      break;
    case 3:
      if (const auto parts = decode_parts(bytes)) require(encode(*parts).size() == bytes.size());
      break;
    case 4:
      (void)decode_part(bytes);
      break;
    case 5:
      (void)decode_greeting(bytes);
      break;
    case 6:
      if (const auto answer = decode_answer(bytes, "a secret", {})) require(!answer->proved);
      break;
    case 7:
      if (const auto record = decode_record(bytes)) {
        require(encode_record(*record).size() == bytes.size());
      }
      break;
    case 8: {
      UniqueId id;
      std::memcpy(id.bytes.data(), bytes.data(), std::min(bytes.size(), id.bytes.size()));
      (void)decode_unique_id(id);
      break;
    }
    default:
      (void)first_node(text);
      if (const auto parts = decode_root_file(text)) {
        require(decode_root_file(encode_root_file(*parts)) == parts);
      }
      break;
  }
  return 0;
}
