#include "bootstrap/protocol.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include "base/bytes.hpp"

namespace sircl::bootstrap {
namespace {

/// `purpose` keeps a MAC of one kind of message from being of use as another.
Mac sign(std::string_view purpose, const std::string& key, const Nonce& nonce,
         std::span<const std::byte> message) {
  ByteWriter text;
  text.text(purpose);
  text.raw(nonce);
  text.raw(message);
  Mac mac{};
  unsigned int size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.bytes().data()), text.bytes().size(),
       reinterpret_cast<unsigned char*>(mac.data()), &size);
  return mac;
}

/// In constant time.
bool equal(std::span<const std::byte> a, std::span<const std::byte> b) noexcept {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

Nonce to_nonce(std::span<const std::byte> bytes) {
  Nonce nonce{};
  std::copy(bytes.begin(), bytes.end(), nonce.begin());
  return nonce;
}

Bytes signed_by(ByteWriter body, std::string_view purpose, const std::string& secret,
                const Nonce& challenge) {
  body.raw(sign(purpose, secret, challenge, body.bytes()));
  return std::move(body).bytes();
}

bool is_signed_by(std::span<const std::byte> bytes, std::string_view purpose,
                  const std::string& secret, const Nonce& challenge) {
  const std::size_t body = bytes.size() - sizeof(Mac);
  return equal(sign(purpose, secret, challenge, bytes.first(body)), bytes.subspan(body));
}

constexpr std::size_t kMostParts = 65536;  // as many as there can be ranks

std::optional<StatusCode> to_code(std::uint32_t number) {
  if (number > static_cast<std::uint32_t>(StatusCode::internal)) return std::nullopt;
  return static_cast<StatusCode>(number);
}

}  // namespace

Nonce random_nonce() {
  Nonce nonce;
  // Without random numbers no proof is worth anything; Linux always has them.
  if (RAND_bytes(reinterpret_cast<unsigned char*>(nonce.data()), static_cast<int>(nonce.size())) !=
      1) {
    std::abort();
  }
  return nonce;
}

Nonce process_token() {
  static std::mutex mutex;
  static pid_t owner = 0;
  static Nonce token;
  const std::lock_guard lock(mutex);
  if (owner != getpid()) {
    owner = getpid();
    token = random_nonce();
  }
  return token;
}

Nonce group_mark(const std::string& group, const Nonce& nonce) {
  const Mac mac = sign("group", group, nonce, {});
  return to_nonce(std::span(mac).first(sizeof(Nonce)));
}

Bytes encode(const Greeting& greeting) {
  ByteWriter out;
  out.integer(kMagic);
  out.integer(greeting.version);
  out.raw(greeting.nonce);
  out.raw(greeting.mark);
  return std::move(out).bytes();
}

std::optional<Greeting> decode_greeting(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  if (in.integer<std::uint32_t>() != kMagic) return std::nullopt;
  Greeting greeting;
  greeting.version = in.integer<std::uint32_t>();
  greeting.nonce = to_nonce(in.raw(sizeof(Nonce)));
  greeting.mark = to_nonce(in.raw(sizeof(Nonce)));
  if (!in.done()) return std::nullopt;
  return greeting;
}

std::optional<std::uint32_t> version_of(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  if (in.integer<std::uint32_t>() != kMagic) return std::nullopt;
  const auto version = in.integer<std::uint32_t>();
  if (!in.ok()) return std::nullopt;
  return version;
}

Bytes encode(const Hello& hello, const std::string& secret, const Nonce& challenge) {
  ByteWriter out;
  out.integer(kMagic);
  out.integer(hello.version);
  out.integer(hello.rank);
  out.integer(hello.size);
  out.integer(hello.epoch);
  out.field(hello.group, kNameBytes);
  out.field(hello.label, kNameBytes);
  out.raw(hello.process);
  out.raw(hello.nonce);
  return signed_by(std::move(out), "hello", secret, challenge);
}

std::optional<HeardHello> decode_hello(std::span<const std::byte> bytes, const std::string& secret,
                                       const Nonce& challenge) {
  if (bytes.size() != kHelloBytes) return std::nullopt;
  ByteReader in(bytes);
  if (in.integer<std::uint32_t>() != kMagic) return std::nullopt;
  HeardHello heard;
  heard.hello.version = in.integer<std::uint32_t>();
  heard.hello.rank = in.integer<std::int32_t>();
  heard.hello.size = in.integer<std::int32_t>();
  heard.hello.epoch = in.integer<std::uint64_t>();
  heard.hello.group = in.field(kNameBytes);
  heard.hello.label = in.field(kNameBytes);
  heard.hello.process = to_nonce(in.raw(sizeof(Nonce)));
  heard.hello.nonce = to_nonce(in.raw(sizeof(Nonce)));
  heard.proved = is_signed_by(bytes, "hello", secret, challenge);
  return heard;
}

Bytes encode(const Answer& answer, const std::string& secret, const Nonce& challenge) {
  ByteWriter out;
  out.integer(kMagic);
  out.integer(static_cast<std::uint32_t>(answer.code));
  out.field(answer.text, 256);
  return signed_by(std::move(out), "answer", secret, challenge);
}

std::optional<HeardAnswer> decode_answer(std::span<const std::byte> bytes,
                                         const std::string& secret, const Nonce& challenge) {
  if (bytes.size() != kAnswerBytes) return std::nullopt;
  ByteReader in(bytes);
  if (in.integer<std::uint32_t>() != kMagic) return std::nullopt;
  const auto code = to_code(in.integer<std::uint32_t>());
  if (!code) return std::nullopt;
  return HeardAnswer{{*code, in.field(256)}, is_signed_by(bytes, "answer", secret, challenge)};
}

Bytes frame(FrameKind kind, std::span<const std::byte> payload) {
  ByteWriter out;
  out.integer(static_cast<std::uint32_t>(kind));
  out.block(payload);
  return std::move(out).bytes();
}

Bytes encode(const Notice& notice) {
  ByteWriter out;
  out.integer(static_cast<std::uint8_t>(notice.kind));
  out.integer(static_cast<std::uint8_t>(notice.code));
  out.integer(static_cast<std::int32_t>(notice.rank));
  out.text(notice.text);
  return std::move(out).bytes();
}

std::optional<Notice> decode_notice(std::span<const std::byte> payload) {
  ByteReader in(payload);
  const auto kind = in.integer<std::uint8_t>();
  const auto code = to_code(in.integer<std::uint8_t>());
  const auto rank = in.integer<std::int32_t>();
  std::string text = in.text();
  if (!in.done() || kind > static_cast<std::uint8_t>(NoticeKind::failed) || !code ||
      *code == StatusCode::ok) {
    return std::nullopt;
  }
  return Notice{static_cast<NoticeKind>(kind), rank, *code, std::move(text)};
}

Bytes encode(const std::vector<Bytes>& parts) {
  ByteWriter out;
  for (const Bytes& part : parts) out.block(part);
  return std::move(out).bytes();
}

std::optional<std::vector<Bytes>> decode_parts(std::span<const std::byte> payload) {
  std::vector<Bytes> parts;
  ByteReader in(payload);
  while (!in.rest().empty()) {
    const auto part = in.block();
    if (parts.size() == kMostParts) return std::nullopt;
    if (!in.ok()) return std::nullopt;
    parts.emplace_back(part.begin(), part.end());
  }
  return parts;
}

Bytes encode_rank(int rank) {
  ByteWriter out;
  out.integer(static_cast<std::int32_t>(rank));
  return std::move(out).bytes();
}

std::optional<int> decode_rank(std::span<const std::byte> payload) {
  ByteReader in(payload);
  const auto rank = in.integer<std::int32_t>();
  if (!in.done()) return std::nullopt;
  return rank;
}

Bytes encode_part(std::string_view step, std::span<const std::byte> bytes) {
  ByteWriter out;
  out.text(step);
  out.raw(bytes);
  return std::move(out).bytes();
}

std::optional<Part> decode_part(std::span<const std::byte> payload) {
  ByteReader in(payload);
  Part part;
  part.step = in.text();
  if (!in.ok()) return std::nullopt;
  part.bytes.assign(in.rest().begin(), in.rest().end());
  return part;
}

std::optional<FrameReader::Frame> FrameReader::next(bool& broken) {
  ByteReader in(buffer_);
  const auto kind = in.integer<std::uint32_t>();
  const auto size = in.integer<std::uint32_t>();
  if (!in.ok()) return std::nullopt;
  if (size > kFrameLimit || kind < 1 || kind > static_cast<std::uint32_t>(FrameKind::closing)) {
    broken = true;
    return std::nullopt;
  }
  const auto payload = in.raw(size);
  if (!in.ok()) return std::nullopt;
  Frame result{static_cast<FrameKind>(kind), Bytes(payload.begin(), payload.end())};
  buffer_.erase(buffer_.begin(), buffer_.end() - static_cast<std::ptrdiff_t>(in.rest().size()));
  return result;
}

}  // namespace sircl::bootstrap
