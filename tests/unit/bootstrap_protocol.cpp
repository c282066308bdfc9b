// Messages survive the way through bytes; everything else is recognised as such.
#include "bootstrap/protocol.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "bootstrap/connection.hpp"
#include "bootstrap/unique_id.hpp"
#include "support/catch.hpp"

using namespace sircl;
using namespace sircl::bootstrap;

namespace {

Bytes cut(const Bytes& bytes, std::size_t size) {
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)};
}

}  // namespace

TEST_CASE("the sizes of the handshake are fixed") {
  CHECK(encode(Greeting{}).size() == kGreetingBytes);
  CHECK(encode(Hello{}, "", {}).size() == kHelloBytes);
  CHECK(encode(Answer{}, "", {}).size() == kAnswerBytes);
}

TEST_CASE("a proof holds for one secret, one challenge and one message only") {
  const Nonce challenge = random_nonce();
  Hello hello;
  hello.rank = 3;
  hello.group = "group";
  const Bytes bytes = encode(hello, "secret", challenge);
  const auto heard = decode_hello(bytes, "secret", challenge);
  REQUIRE(heard);
  CHECK(heard->proved);
  CHECK(heard->hello.rank == 3);
  CHECK(heard->hello.group == "group");
  CHECK_FALSE(decode_hello(bytes, "Secret", challenge)->proved);
  CHECK_FALSE(decode_hello(bytes, "secret", random_nonce())->proved);
  for (std::size_t i = 8; i < bytes.size(); ++i) {
    Bytes changed = bytes;
    changed[i] ^= std::byte{1};
    const auto other = decode_hello(changed, "secret", challenge);
    CHECK((!other || !other->proved));
  }
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_FALSE(decode_hello(cut(bytes, size), "secret", challenge));

  const Bytes answer = encode(Answer{StatusCode::refused, "because"}, "secret", challenge);
  CHECK(decode_answer(answer, "secret", challenge)->proved);
  CHECK(decode_answer(answer, "secret", challenge)->answer.text == "because");
  CHECK_FALSE(decode_answer(answer, "other", challenge)->proved);
}

TEST_CASE("a mark tells the group only to those who know its name") {
  const Nonce nonce = random_nonce();
  CHECK(group_mark("a", nonce) == group_mark("a", nonce));
  CHECK(group_mark("a", nonce) != group_mark("b", nonce));
  CHECK(group_mark("a", nonce) != group_mark("a", random_nonce()));
}

TEST_CASE("notices and parts come back, cut ones do not") {
  const Notice notice{NoticeKind::failed, 5, StatusCode::timeout, "text"};
  const Bytes bytes = encode(notice);
  const auto back = decode_notice(bytes);
  REQUIRE(back);
  CHECK(back->kind == NoticeKind::failed);
  CHECK(back->rank == 5);
  CHECK(back->code == StatusCode::timeout);
  CHECK(back->text == "text");
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_FALSE(decode_notice(cut(bytes, size)));

  const std::vector<Bytes> parts = {{}, {std::byte{1}}, Bytes(300)};
  CHECK(decode_parts(encode(parts)) == parts);
  CHECK_FALSE(decode_parts(cut(encode(parts), 10)));
  CHECK_FALSE(decode_parts(Bytes(4 * 70'000)));  // more parts than there can be ranks
}

TEST_CASE("frames come out whole, however they come in") {
  Bytes stream = frame(FrameKind::gather, Bytes(1000, std::byte{7}));
  const Bytes second = frame(FrameKind::leave, {});
  stream.insert(stream.end(), second.begin(), second.end());
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, stream.size()}) {
    FrameReader reader;
    std::vector<FrameReader::Frame> frames;
    bool broken = false;
    for (std::size_t at = 0; at < stream.size(); at += step) {
      reader.append(std::span(stream).subspan(at, std::min(step, stream.size() - at)));
      while (auto next = reader.next(broken)) frames.push_back(std::move(*next));
    }
    CHECK_FALSE(broken);
    REQUIRE(frames.size() == 2);
    CHECK(frames[0].payload == Bytes(1000, std::byte{7}));
    CHECK(frames[1].kind == FrameKind::leave);
  }
  Bytes huge(8, std::byte{0xFF});  // a known kind, a length beyond the limit
  huge[0] = std::byte{1};
  huge[1] = huge[2] = huge[3] = std::byte{0};
  for (const Bytes& wrong : {Bytes(8), Bytes(8, std::byte{0xFF}), huge}) {
    FrameReader reader;
    bool broken = false;
    reader.append(wrong);
    CHECK_FALSE(reader.next(broken));
    CHECK(broken);
  }
}

TEST_CASE("a goodbye is heard even from a peer that cannot be written to any more") {
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
  const Terms terms;
  Connection connection(sys::Fd(ends[0]), terms, {});
  const Bytes goodbye = frame(FrameKind::leave, {});
  REQUIRE(write(ends[1], goodbye.data(), goodbye.size()) == static_cast<ssize_t>(goodbye.size()));
  close(ends[1]);
  connection.queue(Bytes(100));
  CHECK_FALSE(connection.dead);
  CHECK_FALSE(connection.has_output());
  std::array<std::byte, 64> buffer;
  const auto heard = connection.receive(buffer);
  CHECK(Bytes(heard.begin(), heard.end()) == goodbye);
  CHECK(connection.receive(buffer).empty());
  CHECK(connection.dead);
}

TEST_CASE("unique ids carry host, port and group, and nothing else passes for one") {
  const UniqueIdParts parts{"fe80::1", 29500, random_group()};
  const auto id = encode_unique_id(parts);
  REQUIRE(id.ok());
  const auto back = decode_unique_id(*id);
  REQUIRE(back.ok());
  CHECK(back->host == parts.host);
  CHECK(back->port == parts.port);
  CHECK(back->group == parts.group);
  CHECK(random_group() != random_group());
  CHECK_FALSE(decode_unique_id(UniqueId{}).ok());
  CHECK_FALSE(encode_unique_id({std::string(80, 'h'), 1, "g"}).ok());
  CHECK_FALSE(encode_unique_id({"h", 0, "g"}).ok());
}

TEST_CASE("a process has one token") { CHECK(process_token() == process_token()); }
