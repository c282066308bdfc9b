// Notices of the hub reach the engine, also those that come before there is one or after it.
#include "comm/notice_box.hpp"

#include "support/catch.hpp"
#include "unit/cable_memory_lane.hpp"

using namespace sircl;
using namespace sircl::test;
using bootstrap::Notice;
using bootstrap::NoticeKind;
using detail::Engine;
using detail::EngineOptions;
using detail::NoticeBox;

namespace {

struct Group {
  Group() {
    EngineOptions options;
    options.rank = 0;
    options.ranks = 3;
    options.shape = cable::window_shape(2, 64);
    options.selection.ranks = 3;
    options.waiter.ranks = 3;
    options.waiter.policy = {0, std::chrono::microseconds(0)};
    std::vector<std::unique_ptr<MemoryTransport>> transports;
    for (int rank = 0; rank < 3; ++rank) transports.push_back(std::make_unique<MemoryTransport>(3));
    MemoryTransport::join(transports, options.shape.window_bytes, {});
    transport = transports[0].get();
    engine = std::make_shared<Engine>(options, std::move(transports[0]), nullptr);
    others = std::move(transports);
  }
  MemoryTransport* transport = nullptr;
  std::shared_ptr<Engine> engine;
  std::vector<std::unique_ptr<MemoryTransport>> others;
};

Notice died(int rank, const std::string& text) {
  return {NoticeKind::died, rank, StatusCode::peer_lost, text};
}

exec::Transfer receive_from(int peer, std::vector<std::byte>& room) {
  exec::Transfer transfer;
  transfer.peer = peer;
  transfer.data = room.data();
  transfer.bytes = room.size();
  return transfer;
}

}  // namespace

TEST_CASE("a death is the failure of the engine, and wakes whoever sleeps") {
  Group group;
  NoticeBox box;
  box.connect(group.engine);
  CHECK_FALSE(group.engine->failure().failed());
  box.put(died(2, "rank 2 (box:7) has died"));
  CHECK(group.engine->failure().status().code() == StatusCode::peer_lost);
  CHECK(group.engine->failure().status().message() == "rank 2 (box:7) has died");
  CHECK(group.transport->woken == 1);
  std::vector<std::byte> room(10);
  CHECK(group.engine->run(receive_from(1, room)).message() == "rank 2 (box:7) has died");
}

TEST_CASE("the first failure stays, whichever kind it is") {
  Group group;
  NoticeBox box;
  box.connect(group.engine);
  box.put({NoticeKind::failed, 1, StatusCode::aborted, "rank 1 called abort()"});
  box.put(died(2, "rank 2 has died"));
  CHECK(group.engine->failure().status().code() == StatusCode::aborted);
  CHECK(group.engine->failure().status().message() == "rank 1 called abort()");
}

TEST_CASE("notices that come before the engine are told in their order") {
  NoticeBox box;
  box.put(died(1, "first"));
  box.put(died(2, "second"));
  Group group;
  box.connect(group.engine);
  CHECK(group.engine->failure().status().message() == "first");
}

TEST_CASE("a notice after the engine has gone harms nobody, nor the next engine twice") {
  NoticeBox box;
  {
    Group group;
    box.connect(group.engine);
  }
  box.put(died(1, "late"));
  Group next;
  box.connect(next.engine);
  CHECK(next.engine->failure().status().message() == "late");
  Group after;
  box.connect(after.engine);
  CHECK_FALSE(after.engine->failure().failed());
}

TEST_CASE("leaving is no failure, but ends a wait for who has left") {
  NoticeBox box;
  box.put({NoticeKind::left, 2, StatusCode::ok, ""});
  Group group;
  box.connect(group.engine);
  CHECK_FALSE(group.engine->failure().failed());
  group.transport->on_sleep = [] { std::this_thread::sleep_for(std::chrono::milliseconds(100)); };
  std::vector<std::byte> room(10);
  const Status status = group.engine->run(receive_from(2, room));
  CHECK(status.code() == StatusCode::peer_lost);
  CHECK(status.message().find("rank 2 has left the communicator") == 0);
}
