// Who am I, under every launcher that there is.
#include "bootstrap/launch.hpp"

#include <unistd.h>

#include <map>
#include <string>

#include "bootstrap/nodelist.hpp"
#include "support/catch.hpp"
#include "sys/interface.hpp"

using namespace sircl;
using namespace sircl::bootstrap;

namespace {

using Map = std::map<std::string, std::string>;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Result<Launch> detect(const Map& environment) {
  auto settings = config::Settings::load({}, environment);
  INFO(settings.status().to_string());
  REQUIRE(settings.ok());
  return detect_launch(*settings);
}

Launch found(const Map& environment) {
  auto launch = detect(environment);
  INFO(launch.status().to_string());
  REQUIRE(launch.ok());
  return *launch;
}

std::string refusal(const Map& environment) {
  const auto launch = detect(environment);
  REQUIRE_FALSE(launch.ok());
  CHECK(launch.status().code() == StatusCode::invalid_setting);
  return launch.status().message();
}

Map with(Map base, const Map& more) {
  for (const auto& [name, value] : more) base[name] = value;
  return base;
}

const Map kTorch{{"RANK", "3"},
                 {"WORLD_SIZE", "4"},
                 {"LOCAL_RANK", "1"},
                 {"MASTER_ADDR", "spark1"},
                 {"MASTER_PORT", "29500"}};
const Map kOpenMpi{{"OMPI_COMM_WORLD_RANK", "2"},       {"OMPI_COMM_WORLD_SIZE", "4"},
                   {"OMPI_COMM_WORLD_LOCAL_RANK", "2"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                   {"PMIX_NAMESPACE", "1234@job/1"},    {"PMIX_RANK", "2"}};
const Map kSlurm{{"SLURM_PROCID", "1"},  {"SLURM_NTASKS", "4"},  {"SLURM_LOCALID", "1"},
                 {"SLURM_JOB_ID", "77"}, {"SLURM_STEP_ID", "2"}, {"SLURM_NNODES", "1"}};

}  // namespace

TEST_CASE("nothing set is a single process") {
  const Launch launch = found({});
  CHECK(launch.size == 1);
  CHECK(launch.rank == 0);
  CHECK(launch.source == "single process");
}

TEST_CASE("the library's own settings come first") {
  const Launch launch = found(with(kTorch, {{"SIRCL_RANK", "1"},
                                            {"SIRCL_SIZE", "2"},
                                            {"SIRCL_ROOT", "[fe80::1]:4000"},
                                            {"SIRCL_LOCAL_RANK", "0"},
                                            {"SIRCL_GROUP", "g"}}));
  CHECK(launch.rank == 1);
  CHECK(launch.size == 2);
  CHECK(launch.local_rank == 0);
  CHECK(launch.root.host == "fe80::1");
  CHECK(launch.root.port == 4000);
  CHECK(launch.group == "g");
  CHECK(contains(refusal({{"SIRCL_RANK", "1"}}), "SIRCL_SIZE"));
  CHECK(contains(refusal({{"SIRCL_RANK", "1"}, {"SIRCL_SIZE", "2"}}), "SIRCL_ROOT"));
  CHECK(contains(refusal({{"SIRCL_RANK", "2"}, {"SIRCL_SIZE", "2"}}), "rank 2 of 2"));
}

TEST_CASE("roots") {
  CHECK(parse_root("file:/a:b")->file == "/a:b");
  CHECK(parse_root("10.0.0.1:1")->host == "10.0.0.1");
  for (const char* wrong :
       {"", "host", "host:", ":1", "host:0", "host:65536", "host:1x", "file:"}) {
    INFO(wrong);
    CHECK_FALSE(parse_root(wrong).ok());
  }
}

TEST_CASE("torchrun: the port after its own store's, unless SIRCL_ROOT says otherwise") {
  const Launch launch = found(kTorch);
  CHECK(launch.source == "torchrun");
  CHECK(launch.rank == 3);
  CHECK(launch.local_rank == 1);
  CHECK(launch.root.host == "spark1");
  CHECK(launch.root.port == 29501);
  CHECK(found(with(kTorch, {{"SIRCL_ROOT", "other:5"}})).root.port == 5);
  CHECK(contains(refusal(with(kTorch, {{"MASTER_PORT", "x"}})), "MASTER_PORT=x"));
  CHECK(contains(refusal(with(kTorch, {{"RANK", "4"}})), "rank 4 of 4"));
  CHECK(contains(refusal(with(kTorch, {{"RANK", "-1"}})), "RANK=-1"));
  // Everyday words without a torchrun behind them.
  CHECK(found({{"RANK", "3"}, {"WORLD_SIZE", "4"}}).size == 1);
}

TEST_CASE("Open MPI: a file named after the job, on one host") {
  const Launch launch = found(kOpenMpi);
  CHECK(launch.source == "Open MPI");
  CHECK(launch.rank == 2);
  CHECK(contains(launch.root.file, "sircl-1234-job-1.root"));
  CHECK(contains(refusal(with(kOpenMpi, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}})), "SIRCL_ROOT"));
  Map half = kOpenMpi;
  half.erase("OMPI_COMM_WORLD_SIZE");
  CHECK(contains(refusal(half), "OMPI_COMM_WORLD_SIZE"));
}

TEST_CASE("PMI: named after the parent process where no job id is known") {
  const Map pmi{
      {"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "0"}, {"MPI_LOCALNRANKS", "2"}};
  const Launch launch = found(pmi);
  CHECK(launch.source == "PMI");
  CHECK(contains(launch.root.file, "sircl-" + std::to_string(getppid()) + "-"));
  CHECK(found(pmi).root.file == launch.root.file);
  CHECK(contains(refusal(with(pmi, {{"MPI_LOCALNRANKS", "1"}})), "several hosts"));
}

TEST_CASE("PMIx without a size is an error, not a single process") {
  CHECK(contains(refusal({{"PMIX_RANK", "1"}, {"PMIX_NAMESPACE", "n"}}), "SIRCL_SIZE"));
  CHECK(found({{"PMIX_RANK", "1"}, {"PMIX_SIZE", "2"}, {"PMIX_NAMESPACE", "n"}}).source == "PMIx");
}

TEST_CASE("Slurm: a file on one host, the first host and a port of the step on several") {
  const Launch one = found(kSlurm);
  CHECK(one.source == "Slurm");
  CHECK(contains(one.root.file, "sircl-77-2.root"));
  const Map several =
      with(kSlurm, {{"SLURM_NNODES", "4"}, {"SLURM_STEP_NODELIST", "spark[01-04]"}});
  const Launch launch = found(several);
  CHECK(launch.root.host == "spark01");
  CHECK(launch.root.port >= 20000);
  CHECK(launch.root.port < 30000);
  CHECK(found(with(several, {{"SLURM_PROCID", "3"}})).root.port == launch.root.port);
  CHECK(found(with(several, {{"SLURM_STEP_ID", "3"}})).root.port != launch.root.port);
  CHECK(contains(refusal(with(several, {{"SLURM_STEP_NODELIST", "spark[x]"}})), "SIRCL_ROOT"));
  // A batch script or a shell of an allocation is no rank.
  Map shell = kSlurm;
  shell.erase("SLURM_STEP_ID");
  CHECK(found(shell).source == "single process");
}

TEST_CASE("host lists of Slurm") {
  CHECK(first_node("a") == "a");
  CHECK(first_node("a,b") == "a");
  CHECK(first_node("spark[1-4,7],other") == "spark1");
  CHECK(first_node("n[009-010]") == "n009");
  CHECK(first_node("r[2,3]n[07-08].lan") == "r2n07.lan");
  for (const char* wrong : {"", ",a", "a[", "a[]", "a[x]", "a b", "a]"}) {
    INFO(wrong);
    CHECK_FALSE(first_node(wrong));
  }
}

TEST_CASE("lists of interfaces as NCCL has them") {
  CHECK(sys::interface_matches("eth", "eth0"));
  CHECK_FALSE(sys::interface_matches("eth", "ib0"));
  CHECK(sys::interface_matches("ib,eth", "eth0"));
  CHECK(sys::interface_matches("=eth0", "eth0"));
  CHECK_FALSE(sys::interface_matches("=eth", "eth0"));
  CHECK_FALSE(sys::interface_matches("^docker,lo", "docker0"));
  CHECK(sys::interface_matches("^docker,lo", "eth0"));
  CHECK(sys::interface_matches("^=eth0", "eth01"));
  CHECK(sys::interface_address("=lo").value() == "127.0.0.1");
  CHECK(contains(sys::interface_address("=none").status().message(), "lo"));
}
