// The messages of the proof, and the ports where ranks listen for them.
#include "probe/proof_message.hpp"

#include "probe/proof_ports.hpp"
#include "support/catch.hpp"

using namespace sircl;
using namespace sircl::probe;

namespace {

ProofKey key_of(unsigned char number) {
  ProofKey key{};
  key.fill(std::byte{number});
  return key;
}

const ProofMessage kAddressedMessage{{2, 1}, true, 7, {3, 0}, true, true};

}  // namespace

TEST_CASE("a message of the proof comes back as it was") {
  const ProofMessage to_all{{70000, 3}, false, 0, {}, false, false};
  ProofMessage first = kAddressedMessage;
  first.heard = first.known = false;
  ProofMessage second = kAddressedMessage;
  second.known = false;
  for (const auto& message : {kAddressedMessage, first, second, to_all}) {
    const auto bytes = encode(message, key_of(1));
    CHECK(bytes.size() == kProofBytes);
    CHECK(decode(bytes, key_of(1)) == message);
  }
}

TEST_CASE("another group's message is not heard") {
  CHECK_FALSE(decode(encode(kAddressedMessage, key_of(1)), key_of(2)));
}

TEST_CASE("a message with any bit changed, cut or grown is not heard") {
  const auto good = encode(kAddressedMessage, key_of(1));
  for (std::size_t at = 0; at < good.size() * 8; ++at) {
    auto bad = good;
    bad[at / 8] ^= std::byte{1} << (at % 8);
    CHECK_FALSE(decode(bad, key_of(1)));
  }
  for (std::size_t size = 0; size < good.size(); ++size) {
    CHECK_FALSE(decode(std::span(good).first(size), key_of(1)));
  }
  auto longer = good;
  longer.push_back({});
  CHECK_FALSE(decode(longer, key_of(1)));
}

TEST_CASE("a signed message that contradicts itself is not heard") {
  ProofMessage knows_without_hearing = kAddressedMessage;
  knows_without_hearing.heard = false;
  ProofMessage heard_by_nobody = kAddressedMessage;
  heard_by_nobody.addressed = false;
  CHECK_FALSE(decode(encode(knows_without_hearing, key_of(1)), key_of(1)));
  CHECK_FALSE(decode(encode(heard_by_nobody, key_of(1)), key_of(1)));
}

TEST_CASE("the port for everybody is the group's own and not one of the ephemeral range") {
  CHECK(multicast_port(key_of(1)) == multicast_port(key_of(1)));
  CHECK(multicast_port(key_of(1)) != multicast_port(key_of(2)));
  for (unsigned number = 0; number < 256; ++number) {
    CHECK(multicast_port(key_of(static_cast<unsigned char>(number))) > 60'999);
  }
}

TEST_CASE("ports are told for every address of every function, or not believed") {
  topology::Functions functions(3);
  functions[0].addresses.resize(2);
  functions[2].addresses.resize(1);
  const Ports ports{{40001, 0}, {}, {65535}};
  CHECK(to_string(ports) == "40001,0;;65535");
  CHECK(parse_ports(to_string(ports), functions) == ports);
  CHECK(parse_ports("", {}) == Ports{});
  for (const char* text : {"", "1,2;;", "1,2;3", "1;;3", "1,2;;65536", "1,2;;-1", "1,2;;3,4",
                           "1,2;;3x", "1,2,3;;4", "1,2;;3;4", "1, 2;;3"}) {
    INFO(text);
    CHECK_FALSE(parse_ports(text, functions));
  }
}
