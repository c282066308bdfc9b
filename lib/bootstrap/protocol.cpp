#include "bootstrap/protocol.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <cstring>

namespace sircl::bootstrap {
namespace {

void put(Bytes& out, const void* data, std::size_t size) {
  const auto* bytes = static_cast<const std::byte*>(data);
  out.insert(out.end(), bytes, bytes + size);
}

template <typename T>
bool take(std::span<const std::byte>& in, T& value) {
  if (in.size() < sizeof value) return false;
  std::memcpy(&value, in.data(), sizeof value);
  in = in.subspan(sizeof value);
  return true;
}

}  // namespace

Nonce random_nonce() {
  Nonce nonce;
  RAND_bytes(reinterpret_cast<unsigned char*>(nonce.data()), static_cast<int>(nonce.size()));
  return nonce;
}

Mac sign(const std::string& secret, const Nonce& nonce, std::span<const std::byte> message) {
  Bytes text(nonce.begin(), nonce.end());
  text.insert(text.end(), message.begin(), message.end());
  Mac mac{};
  unsigned int size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(),
       reinterpret_cast<unsigned char*>(mac.data()), &size);
  return mac;
}

bool equal(const Mac& a, const Mac& b) noexcept { return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0; }

Bytes frame(FrameKind kind, std::span<const std::byte> payload) {
  const FrameHeader header{static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(payload.size())};
  Bytes out;
  put(out, &header, sizeof header);
  put(out, payload.data(), payload.size());
  return out;
}

Bytes encode(const Notice& notice) {
  Bytes out;
  const auto kind = static_cast<std::uint8_t>(notice.kind);
  const auto code = static_cast<std::uint8_t>(notice.code);
  const std::int32_t rank = notice.rank;
  put(out, &kind, 1);
  put(out, &code, 1);
  put(out, &rank, sizeof rank);
  put(out, notice.text.data(), notice.text.size());
  return out;
}

std::optional<Notice> decode_notice(std::span<const std::byte> in) {
  std::uint8_t kind = 0;
  std::uint8_t code = 0;
  std::int32_t rank = 0;
  if (!take(in, kind) || !take(in, code) || !take(in, rank)) return std::nullopt;
  if (kind > 2 || code == 0 || code > static_cast<int>(StatusCode::internal)) return std::nullopt;
  return Notice{static_cast<NoticeKind>(kind), rank, static_cast<StatusCode>(code),
                std::string(reinterpret_cast<const char*>(in.data()), in.size())};
}

Bytes encode(const std::vector<Bytes>& parts) {
  Bytes out;
  for (const Bytes& part : parts) {
    const auto size = static_cast<std::uint32_t>(part.size());
    put(out, &size, sizeof size);
    put(out, part.data(), part.size());
  }
  return out;
}

std::optional<std::vector<Bytes>> decode_parts(std::span<const std::byte> in) {
  std::vector<Bytes> parts;
  while (!in.empty()) {
    std::uint32_t size = 0;
    if (!take(in, size) || size > in.size()) return std::nullopt;
    parts.emplace_back(in.begin(), in.begin() + size);
    in = in.subspan(size);
  }
  return parts;
}

std::optional<FrameReader::Frame> FrameReader::next(bool& broken) {
  FrameHeader header;
  if (buffer_.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, buffer_.data(), sizeof header);
  if (header.bytes > kFrameLimit || header.kind < 1 || header.kind > 5) {
    broken = true;
    return std::nullopt;
  }
  if (buffer_.size() < sizeof header + header.bytes) return std::nullopt;
  const auto begin = buffer_.begin() + sizeof header;
  Frame result{static_cast<FrameKind>(header.kind), Bytes(begin, begin + header.bytes)};
  buffer_.erase(buffer_.begin(), begin + header.bytes);
  return result;
}

}  // namespace sircl::bootstrap
