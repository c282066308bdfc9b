// Bad input of every kind: one error with a text that names the thing and the remedy, on every rank
// that it concerns.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "sircl/sircl.h"
#include "support/catch.hpp"
#include "support/ranks.hpp"

using namespace sircl;
using namespace sircl::test;

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A port of the loopback interface that is taken while the object lives.
class TakenPort {
 public:
  TakenPort() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof where;
    REQUIRE(bind(fd_, reinterpret_cast<sockaddr*>(&where), size) == 0);
    REQUIRE(listen(fd_, 1) == 0);
    REQUIRE(getsockname(fd_, reinterpret_cast<sockaddr*>(&where), &size) == 0);
    port_ = ntohs(where.sin_port);
  }
  ~TakenPort() { close(fd_); }
  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  int fd_;
  int port_ = 0;
};

std::string free_address() { return TakenPort().address(); }

Communicator single() {
  Options options;
  options.rank(0).size(1);
  auto comm = Communicator::create(options);
  INFO(comm.status().to_string());
  REQUIRE(comm.ok());
  return *std::move(comm);
}

/// What create() says on each of `count` ranks.
std::vector<std::string> refusals(int count, const std::function<Options(int rank)>& options_of) {
  Ranks ranks(count, [&](int rank) -> std::string {
    const auto comm = Communicator::create(options_of(rank));
    return comm ? "joined" : comm.status().to_string();
  });
  std::vector<std::string> texts;
  for (const Ended& ended : ranks.wait_all()) texts.push_back(ended.text);
  return texts;
}

std::string refusal(const Options& options) {
  return refusals(1, [&](int) { return options; }).front();
}

}  // namespace

TEST_CASE("arguments of every call are checked before anything is started") {
  auto comm = single();
  std::vector<float> data(16);
  float* const in = data.data();
  const auto huge = std::numeric_limits<std::size_t>::max();
  const std::vector<std::size_t> counts = {1, 2};
  struct Case {
    Status status;
    std::string text;
  };
  const std::vector<Case> cases = {
      {comm.all_reduce(nullptr, in, 4, DataType::f32), "all_reduce: in is null"},
      {comm.all_reduce(in, nullptr, 4, DataType::f32), "all_reduce: out is null"},
      {comm.all_reduce(in, in + 1, 4, DataType::f32), "all_reduce: in and out overlap"},
      {comm.all_reduce(in, in, 4, static_cast<DataType>(77)),
       "all_reduce: 77 is not an element type"},
      {comm.all_reduce(in, in, 4, DataType::f32, static_cast<ReduceOp>(9)),
       "all_reduce: 9 is not an operation"},
      {comm.all_reduce(in, in, huge, DataType::f32), "all_reduce: count 18446744073709551615"},
      {comm.all_gather(in, nullptr, 4, DataType::f32), "all_gather: out is null"},
      {comm.all_gather(in, in + 8, std::span(counts), DataType::f32),
       "all_gather: counts has 2 entries; one per rank, 1, is needed"},
      {comm.reduce_scatter(nullptr, in, 4, DataType::f32), "reduce_scatter: in is null"},
      {comm.broadcast(in, in, 4, DataType::f32, 1), "broadcast: root 1 is not a rank"},
      {comm.reduce(in, in, 4, DataType::f32, ReduceOp::sum, -1), "reduce: root -1 is not a rank"},
      {comm.gather(in, in, 4, DataType::f32, 5), "gather: root 5 is not a rank"},
      {comm.scatter(in, in, 4, DataType::f32, 5), "scatter: root 5 is not a rank"},
      {comm.all_to_all(nullptr, in, 4, DataType::f32), "all_to_all: in is null"},
      {comm.all_to_all(in, in + 8, std::span(counts), std::span(counts), DataType::f32),
       "all_to_all: send_counts and receive_counts need one entry per rank, 1"},
      {comm.send(in, 4, DataType::f32, 1), "send: destination 1 is not a rank"},
      {comm.send(nullptr, 4, DataType::f32, 0), "send: in is null"},
      {comm.receive(in, 4, DataType::f32, -1), "receive: source -1 is not a rank"},
      {comm.receive(in, huge / 2, DataType::f32, 0), "receive: count"},
      {comm.all_reduce_async(nullptr, in, 4, DataType::f32).status(), "all_reduce: in is null"},
      {comm.send_async(in, 4, DataType::f32, 7).status(), "send: destination 7 is not a rank"},
      {group_end(), "group_end without group_start"},
  };
  for (const Case& each : cases) {
    INFO(each.text << " <> " << each.status.to_string());
    CHECK(each.status.code() == StatusCode::invalid_argument);
    CHECK(each.status.message().find(each.text) == 0);
  }
  CHECK(comm.status().ok());
  CHECK(comm.all_reduce(in, in, 16, DataType::f32).ok());
}

TEST_CASE("settings that are unknown, malformed or out of range") {
  struct Case {
    std::string name, value, text;
  };
  const std::vector<Case> cases = {
      {"transprot", "shm", "did you mean SIRCL_TRANSPORT?"},
      {"transport", "pigeon", "SIRCL_TRANSPORT=pigeon (from options): "},
      {"shm_slots", "1", "SIRCL_SHM_SLOTS=1 (from options): "},
      {"shm_slots", "many", "SIRCL_SHM_SLOTS=many (from options): "},
      {"tcp_slot_bytes", "1G", "SIRCL_TCP_SLOT_BYTES=1G (from options): "},
      {"startup_wait_s", "0", "SIRCL_STARTUP_WAIT_S=0 (from options): "},
      {"fabric", "ring:1", "ring:1"},
      {"simd", "abacus", "abacus"},
      {"config_file", "/nonexistent/config", "cannot read SIRCL_CONFIG_FILE /nonexistent/config"},
      {"root", "no port", "SIRCL_ROOT=no port: must be host:port"},
      {"root", "127.0.0.1:70000", "SIRCL_ROOT=127.0.0.1:70000: must be host:port"},
  };
  for (const Case& each : cases) {
    Options options;
    options.rank(0).size(each.name == "root" ? 2 : 1).set(each.name, each.value);
    const std::string text = refusal(options);
    INFO(each.name << "=" << each.value << " gave: " << text);
    CHECK(contains(text, each.text));
    CHECK((contains(text, "invalid_setting: ") || contains(text, "resource: ")));
  }
  Options secret;
  secret.set("secret_file", "/nonexistent/secret");
  CHECK(contains(make_unique_id(2, secret).status().to_string(),
                 "SIRCL_SECRET_FILE /nonexistent/secret cannot be read or is empty"));
  Options range;
  range.set("port_range", "9-5");
  CHECK(make_unique_id(2, range).status().to_string() ==
        "invalid_setting: SIRCL_PORT_RANGE=9-5: must be FIRST-LAST, ports from 1 to 65535");
}

TEST_CASE("a setting that only one rank cannot have is an error on all") {
  const Meeting meeting;
  const auto texts = refusals(3, [&](int rank) {
    auto options = meeting.options(rank, 3, "shm");
    if (rank == 1) options.set("simd", "abacus");
    return options;
  });
  for (const std::string& text : texts) {
    INFO(text);
    CHECK(text.find("invalid_setting: rank 1: ") == 0);
    CHECK(contains(text, "abacus"));
  }
}

TEST_CASE("ranks and sizes that do not exist") {
  const Meeting meeting;
  Options options = meeting.options(4, 4, "tcp");
  INFO(refusal(options));
  CHECK(contains(refusal(options), "rank 4 of 4 ranks does not exist (from SIRCL_*)"));
  Options half;
  half.set("SIRCL_RANK", "1");
  CHECK(contains(refusal(half), "SIRCL_RANK is set but SIRCL_SIZE is not"));
  CHECK(make_unique_id(0).status().message() == "make_unique_id: size 0 is not positive");
  CHECK(Communicator::create(UniqueId{}, 2, 2).status().message() ==
        "create: rank 2 of 2 does not exist; ranks are 0 to size-1");
  CHECK(Communicator::create(UniqueId{}, 0, 2).status().message() ==
        "this is not a unique id of sircl; hand the 128 bytes of make_unique_id to every rank");
}

TEST_CASE("the C interface takes no NULL") {
  CHECK(static_cast<int>(sircl_create(nullptr, nullptr)) ==
        static_cast<int>(StatusCode::invalid_argument));
  CHECK(contains(sircl_last_error(), "the place for the communicator is NULL"));
  CHECK(static_cast<int>(sircl_barrier(nullptr)) == static_cast<int>(StatusCode::invalid_argument));
  CHECK(contains(sircl_last_error(), "the communicator is NULL"));
}

TEST_CASE("a root that nobody started is named with its address and the remedy") {
  Options options;
  const std::string where = free_address();
  options.rank(1).size(2).root(where).set("startup_wait_s", "1");
  const std::string text = refusal(options);
  INFO(text);
  CHECK(text.find("unreachable: rank 1 cannot reach the root at " + where + " after ") == 0);
  CHECK(contains(text, "is rank 0 running"));
}

TEST_CASE("a port that is taken is named with the remedy") {
  const TakenPort taken;
  Options options;
  options.rank(0).size(2).root(taken.address()).set("startup_wait_s", "1");
  CHECK(refusal(options) ==
        "resource: cannot listen on " + taken.address() +
            " (Address already in use); free the port, or choose another in SIRCL_ROOT or "
            "SIRCL_PORT_RANGE");
}

TEST_CASE("a wrong secret is refused at once") {
  const std::string where = free_address();
  const auto texts = refusals(2, [&](int rank) {
    Options options;
    options.rank(rank).size(2).root(where).set("startup_wait_s", "2");
    options.set("secret", rank == 0 ? "right" : "wrong");
    return options;
  });
  INFO(texts[0] << "\n" << texts[1]);
  CHECK(texts[1] == "refused: rank 1 was refused by the root at " + where +
                        ": the secret differs; give all ranks the same SIRCL_SECRET or "
                        "SIRCL_SECRET_FILE");
  CHECK(contains(texts[0], "rank 1"));
  for (const std::string& text : texts) {
    CHECK_FALSE(contains(text, "right"));
    CHECK_FALSE(contains(text, "wrong"));
  }
}

TEST_CASE("settings that must be equal, and are not, are named on every rank") {
  const Meeting meeting;
  const auto texts = refusals(3, [&](int rank) {
    auto options = meeting.options(rank, 3, "shm");
    if (rank == 1) options.set("shm_slots", "8");
    return options;
  });
  for (const std::string& text : texts) {
    INFO(text);
    CHECK(contains(text, "mismatch: SIRCL_SHM_SLOTS is '16' on rank 0 but '8' on rank 1"));
    CHECK(text == texts.front());
  }
}

TEST_CASE("two processes with one rank: the second is told so") {
  const std::string where = free_address();
  const auto texts = refusals(3, [&](int rank) {
    Options options;
    options.rank(rank == 2 ? 1 : rank).size(3).root(where).set("startup_wait_s", "2");
    return options;
  });
  const std::string both = texts[1] + "\n" + texts[2];
  INFO(both);
  CHECK(contains(both, "has joined already"));
  CHECK(contains(both, "give every process its own SIRCL_RANK"));
  CHECK(contains(texts[0], "rank 2"));
}

TEST_CASE("no room for shared memory on one rank is an error on all") {
  const Meeting meeting;
  const auto texts = refusals(3, [&](int rank) {
    if (rank == 0) {
      signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{1 << 20, 1 << 20};
      setrlimit(RLIMIT_FSIZE, &limit);
    }
    return meeting.options(rank, 3, "shm");
  });
  for (const std::string& text : texts) {
    INFO(text);
    CHECK(text.find("resource: rank 0: cannot reserve ") == 0);
    CHECK(contains(text,
                   "of shared memory (File too large); free memory or lower "
                   "SIRCL_SHM_PIECE_BYTES or SIRCL_SHM_SLOT_BYTES"));
  }
}

TEST_CASE("ranks of different users cannot share memory, and all are told why") {
  if (geteuid() != 0) return;  // only root can become somebody else
  const std::string where = free_address();
  const auto texts = refusals(2, [&](int rank) {
    if (rank == 1 && setuid(65534) != 0) std::abort();
    Options options;
    options.rank(rank).size(2).root(where).set("transport", "shm").set("startup_wait_s", "20");
    return options;
  });
  for (const std::string& text : texts) {
    INFO(text);
    CHECK(text.find("resource: rank 1: cannot open the shared memory of process ") == 0);
    CHECK(contains(text, "Permission denied); ranks of one host must run as the same user"));
    CHECK(contains(text, "SIRCL_TRANSPORT=tcp"));
  }
}

TEST_CASE("an address for data that is not this host's is an error on all") {
  const Meeting meeting;
  const auto texts = refusals(2, [&](int rank) {
    auto options = meeting.options(rank, 2, "tcp");
    if (rank == 1) options.set("tcp_host", "192.0.2.1");
    return options;
  });
  for (const std::string& text : texts) {
    CHECK(text ==
          "resource: rank 1: cannot listen on 192.0.2.1 (Cannot assign requested address); set "
          "SIRCL_TCP_HOST to an address of this host");
  }
}

TEST_CASE("counts of a send and its receive that differ are named with both sizes") {
  for (const std::string transport : {"shm", "tcp"}) {
    const Meeting meeting;
    Ranks ranks(2, [&](int rank) -> std::string {
      auto comm = Communicator::create(meeting.options(rank, 2, transport));
      if (!comm) return comm.status().to_string();
      std::vector<double> data(10);
      if (rank == 0) {
        if (Status sent = comm->send(data.data(), 10, DataType::f64, 1); !sent.ok()) {
          return sent.to_string();
        }
        return comm->barrier().to_string();
      }
      return comm->receive(data.data(), 9, DataType::f64, 0).to_string();
    });
    for (const Ended& ended : ranks.wait_all()) {
      INFO(transport << ": " << ended.text);
      CHECK(
          contains(ended.text,
                   "rank 0 sent 80 bytes to rank 1, which receives 72 bytes; both sides must name "
                   "the same count and type"));
    }
  }
}
