// Joining, gathering, failing and leaving, with threads as ranks.
#include <poll.h>
#include <sys/socket.h>

#include <string>
#include <vector>

#include "bootstrap/protocol.hpp"
#include "bootstrap_support.hpp"
#include "sys/socket.hpp"

using namespace sircl;
using namespace sircl::test;

TEST_CASE("everybody gets everybody's bytes, with and without a secret") {
  for (const int size : {1, 2, 5, 8}) {
    for (const std::string secret : {"", "a secret"}) {
      RootOptions options = root_options(size);
      options.secret = secret;
      const auto root = start_root(options);
      const auto texts = on_ranks(size, [&](int rank) -> std::string {
        auto member = Member::join(join_options(*root, options, rank));
        if (!member) return member.status().to_string();
        for (int round = 0; round < 20; ++round) {
          // Of every length, also none.
          const Bytes mine = bytes_of(std::string(static_cast<std::size_t>(rank * round * 37),
                                                  static_cast<char>('a' + rank)));
          auto all = (*member)->all_gather(mine, "round");
          if (!all) return all.status().to_string();
          if (all->size() != static_cast<std::size_t>(size)) return "wrong size";
          for (int other = 0; other < size; ++other) {
            const Bytes theirs = bytes_of(std::string(static_cast<std::size_t>(other * round * 37),
                                                      static_cast<char>('a' + other)));
            if ((*all)[static_cast<std::size_t>(other)] != theirs) return "wrong bytes";
          }
        }
        return "";
      });
      for (const std::string& text : texts) CHECK(text.empty());
    }
  }
}

TEST_CASE("whoever brings other terms is refused at once, with the reason") {
  RootOptions options = root_options(2);
  options.secret = "right";
  const auto root = start_root(options);
  const auto reason = [&](const std::function<void(JoinOptions&)>& change) {
    JoinOptions mine = join_options(*root, options, 1);
    change(mine);
    const auto begin = std::chrono::steady_clock::now();
    const auto member = Member::join(mine);
    CHECK(std::chrono::steady_clock::now() - begin < 5s);
    REQUIRE_FALSE(member.ok());
    return member.status().to_string();
  };
  CHECK(contains(reason([](auto& o) { o.secret = "wrong"; }),
                 "refused: rank 1 was refused by the root at 127.0.0.1"));
  CHECK(contains(reason([](auto& o) { o.secret = "wrong"; }), "secret differs"));
  CHECK(contains(reason([](auto& o) { o.secret = ""; }), "secret differs"));
  CHECK(contains(reason([](auto& o) { o.group = "other"; }), "another group"));
  CHECK(contains(reason([](auto& o) { o.epoch = 6; }), "epoch 7, this rank in epoch 6"));
  CHECK(contains(reason([](auto& o) { o.size = 3; }), "2 ranks, this rank was told 3"));
  CHECK(contains(reason([](auto& o) { o.rank = 2; }), "rank 2 is not from 0 to 1"));
  const auto first = Member::join(join_options(*root, options, 1));
  REQUIRE(first.ok());
  CHECK(contains(reason([](auto&) {}), "rank 1 has joined already (host:1)"));
}

TEST_CASE("a member does not believe a root that lacks the secret") {
  RootOptions options = root_options(1);
  const auto root = start_root(options);
  JoinOptions mine = join_options(*root, options, 0);
  mine.secret = "secret";
  const auto member = Member::join(mine);
  REQUIRE_FALSE(member.ok());
  CHECK(member.status().code() == StatusCode::refused);
}

TEST_CASE("a root that welcomes everybody without knowing the secret is not believed") {
  auto listening = sys::listen_on("127.0.0.1", 0, 0);
  REQUIRE(listening.ok());
  std::thread impostor([&] {
    pollfd entry{listening->fd.get(), POLLIN, 0};
    poll(&entry, 1, 10'000);
    const sys::Fd fd(accept4(listening->fd.get(), nullptr, nullptr, SOCK_NONBLOCK));
    const bootstrap::Nonce nonce = bootstrap::random_nonce();
    const bootstrap::Greeting greeting{bootstrap::kVersion, nonce,
                                       bootstrap::group_mark("test", nonce)};
    Bytes hello(bootstrap::kHelloBytes);
    (void)sys::send_all(fd.get(), bootstrap::encode(greeting), 2s);
    (void)sys::receive_all(fd.get(), hello, 2s);
    const auto heard = bootstrap::decode_hello(hello, "", nonce);
    if (heard)
      (void)sys::send_all(fd.get(),
                          bootstrap::encode(bootstrap::Answer{}, "guess", heard->hello.nonce), 2s);
  });
  JoinOptions mine;
  mine.host = "127.0.0.1";
  mine.port = listening->port;
  mine.group = "test";
  mine.secret = "secret";
  mine.startup_timeout = 10s;
  const auto member = Member::join(mine);
  impostor.join();
  REQUIRE_FALSE(member.ok());
  CHECK(contains(member.status().message(), "the root does not know the secret"));
}

TEST_CASE("without a secret not every interface is served") {
  RootOptions options = root_options(2);
  options.bind_host = "0.0.0.0";
  const auto refused = Root::start(options);
  REQUIRE_FALSE(refused.ok());
  CHECK(contains(refused.status().message(), "SIRCL_SECRET_FILE"));
  options.secret = "secret";
  CHECK(Root::start(options).ok());
}

TEST_CASE("a taken port is one error that names it; a range goes on to the next") {
  RootOptions options = root_options(2);
  const auto root = start_root(options);
  options.port = options.port_last = root->port();
  const auto again = Root::start(options);
  REQUIRE_FALSE(again.ok());
  CHECK(again.status().code() == StatusCode::resource);
  CHECK(contains(again.status().message(), std::to_string(root->port())));
  CHECK(contains(again.status().message(), "SIRCL_PORT_RANGE"));
  options.port_last = static_cast<std::uint16_t>(std::min(65535, root->port() + 50));
  const auto next = Root::start(options);
  REQUIRE(next.ok());
  CHECK((*next)->port() > root->port());
}

TEST_CASE("a root that nobody started is named with its address and the remedy") {
  RootOptions options = root_options(2);
  auto root = start_root(options);
  JoinOptions mine = join_options(*root, options, 1);
  root.reset();
  mine.startup_timeout = 200ms;
  const auto member = Member::join(mine);
  REQUIRE_FALSE(member.ok());
  CHECK(member.status().code() == StatusCode::unreachable);
  for (const std::string& part : {std::string("rank 1"), "127.0.0.1:" + std::to_string(mine.port),
                                  std::string("refused"), std::string("SIRCL_ROOT")}) {
    INFO(part);
    CHECK(contains(member.status().message(), part));
  }
}

TEST_CASE("who does not come, and who is late for a step, is named on every rank") {
  RootOptions options = root_options(3);
  options.startup_timeout = 300ms;
  for (const bool joins : {false, true}) {
    const auto root = start_root(options);
    std::unique_ptr<Member> late;
    if (joins) late = *Member::join(join_options(*root, options, 2));
    const auto texts = on_ranks(2, [&](int rank) {
      auto member = Member::join(join_options(*root, options, rank));
      return member ? (*member)->all_gather({}, "fabric").status().to_string()
                    : member.status().to_string();
    });
    CHECK(contains(texts[0], joins ? "timeout: rank 2 (host:2) did not reach step 'fabric'"
                                   : "timeout: rank 2 did not join"));
    CHECK(texts[0] == texts[1]);
  }
}

TEST_CASE("ranks in different steps are told so") {
  const RootOptions options = root_options(2);
  const auto root = start_root(options);
  const auto texts = on_ranks(2, [&](int rank) {
    auto member = Member::join(join_options(*root, options, rank));
    return (*member)->all_gather({}, rank == 0 ? "hosts" : "agreement").status().to_string();
  });
  CHECK(contains(texts[0],
                 "mismatch: rank 1 is in step 'agreement' while others are in step 'hosts'"));
  CHECK(texts[0] == texts[1]);
}

TEST_CASE("a rank that leaves while others wait for it ends their wait") {
  const RootOptions options = root_options(2);
  const auto root = start_root(options);
  auto first = *Member::join(join_options(*root, options, 0));
  { auto second = *Member::join(join_options(*root, options, 1)); }
  const auto all = first->all_gather({}, "start");
  REQUIRE_FALSE(all.ok());
  CHECK(all.status().code() == StatusCode::peer_lost);
  CHECK(contains(all.status().message(), "rank 1 (host:1) left"));
}

TEST_CASE(
    "a connection that ends without goodbye is a death that all hear of, also those who come "
    "later") {
  RootOptions options = root_options(3);
  const auto root = start_root(options);
  Told told;
  JoinOptions mine = join_options(*root, options, 0);
  mine.on_notice = told.listener();
  auto survivor = *Member::join(mine);
  {
    // A rank by hand, so that it can end as a killed process does.
    auto fd = sys::connect_to(root->host(), root->port(), 2s);
    REQUIRE(fd.ok());
    Bytes heard(bootstrap::kGreetingBytes);
    REQUIRE(sys::receive_all(fd->get(), heard, 2s));
    bootstrap::Hello hello;
    hello.rank = 2;
    hello.size = 3;
    hello.epoch = options.epoch;
    hello.group = options.group;
    hello.label = "box:99";
    const auto greeting = bootstrap::decode_greeting(heard);
    REQUIRE(sys::send_all(fd->get(), bootstrap::encode(hello, "", greeting->nonce), 2s));
    heard.resize(bootstrap::kAnswerBytes);
    REQUIRE(sys::receive_all(fd->get(), heard, 2s));
  }
  REQUIRE(told.wait(1));
  CHECK(told.notices()[0].kind == NoticeKind::died);
  CHECK(told.notices()[0].rank == 2);
  CHECK(contains(told.notices()[0].text, "rank 2 (box:99) lost its connection"));

  const auto gathered = survivor->all_gather({}, "late");
  CHECK(contains(gathered.status().message(), "rank 2 (box:99)"));
  const auto latecomer = *Member::join(join_options(*root, options, 1));
  CHECK(contains(latecomer->all_gather({}, "late").status().message(),
                 "rank 2 (box:99) lost its connection"));
  // Nobody takes the place of a rank that is gone.
  const auto again = Member::join(join_options(*root, options, 2));
  CHECK(contains(again.status().message(), "has joined already"));
}

TEST_CASE("the first failure is the verdict for everybody") {
  const RootOptions options = root_options(4);
  const auto root = start_root(options);
  std::vector<Told> told(4);
  std::vector<std::unique_ptr<Member>> members;
  for (int rank = 0; rank < 4; ++rank) {
    JoinOptions mine = join_options(*root, options, rank);
    mine.on_notice = told[static_cast<std::size_t>(rank)].listener();
    members.push_back(*Member::join(mine));
  }
  const auto texts = on_ranks(4, [&](int rank) {
    return members[static_cast<std::size_t>(rank)]
        ->report_failure({StatusCode::timeout, "seen by " + std::to_string(rank)})
        .to_string();
  });
  for (const std::string& text : texts) {
    CHECK(contains(text, "timeout: seen by "));
    CHECK(text == texts[0]);
  }
  for (const Told& each : told) {
    REQUIRE(each.wait(1));
    for (const Notice& notice : each.notices()) CHECK(contains(texts[0], notice.text));
  }
}

TEST_CASE("leaving is no death, in whatever order, and the root may go first") {
  for (int round = 0; round < 20; ++round) {
    const RootOptions options = root_options(3);
    auto root = start_root(options);
    std::vector<Told> told(3);
    std::vector<std::unique_ptr<Member>> members;
    for (int rank = 0; rank < 3; ++rank) {
      JoinOptions mine = join_options(*root, options, rank);
      mine.on_notice = told[static_cast<std::size_t>(rank)].listener();
      members.push_back(*Member::join(mine));
    }
    if (round % 2 == 0) {
      on_ranks(3, [&](int rank) {
        members[static_cast<std::size_t>(rank)].reset();
        return "";
      });
      root.reset();
    } else {
      root.reset();
      CHECK(members[1]->report_failure({StatusCode::internal, "mine"}).message() == "mine");
      CHECK_FALSE(members[2]->all_gather({}, "after").ok());
      members.clear();
    }
    for (const Told& each : told) {
      for (const Notice& notice : each.notices()) CHECK(notice.kind == NoticeKind::left);
    }
  }
}

TEST_CASE("too many bytes are refused and harm nobody") {
  const RootOptions options = root_options(1);
  const auto root = start_root(options);
  auto member = *Member::join(join_options(*root, options, 0));
  const auto refused = member->all_gather(Bytes(bootstrap::kFrameLimit), "big");
  CHECK(refused.status().code() == StatusCode::invalid_argument);
  const auto large = member->all_gather(Bytes(bootstrap::part_limit(1)), "large");
  REQUIRE(large.ok());
  CHECK(large->front().size() == bootstrap::part_limit(1));
}
