#include "probe/proof_message.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <string_view>

#include "base/bytes.hpp"

namespace sircl::probe {
namespace {

using Mac = std::array<std::byte, 32>;

constexpr std::uint32_t kMagic = 0x46525053;  // "SPRF"
constexpr std::uint8_t kVersion = 1;
constexpr std::uint8_t kAddressed = 1;
constexpr std::uint8_t kHeard = 2;
constexpr std::uint8_t kKnown = 4;

/// `purpose` keeps a MAC of one kind of text from being of use as another.
Mac sign(std::string_view purpose, const ProofKey& key, std::span<const std::byte> text) {
  ByteWriter whole;
  whole.text(purpose);
  whole.raw(text);
  Mac mac{};
  unsigned int size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(whole.bytes().data()), whole.bytes().size(),
       reinterpret_cast<unsigned char*>(mac.data()), &size);
  return mac;
}

void write(ByteWriter& writer, const topology::FunctionId& id) {
  writer.integer(static_cast<std::int32_t>(id.rank));
  writer.integer(static_cast<std::int32_t>(id.index));
}

topology::FunctionId read_id(ByteReader& reader) {
  const int rank = reader.integer<std::int32_t>();
  return {rank, reader.integer<std::int32_t>()};
}

std::uint8_t flags_of(const ProofMessage& message) {
  return static_cast<std::uint8_t>((message.addressed ? kAddressed : 0) |
                                   (message.heard ? kHeard : 0) | (message.known ? kKnown : 0));
}

bool valid(std::uint8_t flags) {
  return flags == 0 || flags == kAddressed || flags == (kAddressed | kHeard) ||
         flags == (kAddressed | kHeard | kKnown);
}

}  // namespace

std::vector<std::byte> encode(const ProofMessage& message, const ProofKey& key) {
  ByteWriter writer;
  writer.integer(kMagic);
  writer.integer(kVersion);
  writer.integer(flags_of(message));
  write(writer, message.from);
  writer.integer(message.candidate);
  write(writer, message.to);
  writer.raw(sign("proof", key, writer.bytes()));
  return std::move(writer).bytes();
}

std::optional<ProofMessage> decode(std::span<const std::byte> bytes, const ProofKey& key) {
  if (bytes.size() != kProofBytes) return std::nullopt;
  ByteReader reader(bytes);
  if (reader.integer<std::uint32_t>() != kMagic || reader.integer<std::uint8_t>() != kVersion) {
    return std::nullopt;
  }
  const auto flags = reader.integer<std::uint8_t>();
  ProofMessage message;
  message.addressed = (flags & kAddressed) != 0;
  message.heard = (flags & kHeard) != 0;
  message.known = (flags & kKnown) != 0;
  message.from = read_id(reader);
  message.candidate = reader.integer<std::uint32_t>();
  message.to = read_id(reader);
  const Mac expected = sign("proof", key, bytes.first(kProofBytes - sizeof(Mac)));
  const auto mac = reader.raw(sizeof(Mac));
  if (!reader.done() || CRYPTO_memcmp(mac.data(), expected.data(), expected.size()) != 0) {
    return std::nullopt;
  }
  if (!valid(flags)) return std::nullopt;
  return message;
}

// Above the ports that Linux gives to others by itself.
std::uint16_t multicast_port(const ProofKey& key) {
  constexpr unsigned kFirst = 61'001;
  constexpr unsigned kPorts = 4'500;
  const Mac mac = sign("port", key, {});
  const unsigned number = std::to_integer<unsigned>(mac[0]) | std::to_integer<unsigned>(mac[1])
                                                                  << 8;
  return static_cast<std::uint16_t>(kFirst + number % kPorts);
}

}  // namespace sircl::probe
