// Every setting of the project. Sorted by name; a test compares the README's table with it.
#include <array>

#include "config/settings.hpp"

namespace sircl::config {
namespace {

using enum SettingType;

// name, type, unit, default, choices, doc, fallback, wire, secret, minimum, maximum
constexpr std::array kRegistry = {
    Setting{"SIRCL_ALGORITHM", choice, "", "auto",
            "auto|direct|exchange|recursive_doubling|halving_doubling|ring|path",
            "algorithm for the collectives that have it; others keep their default", "", true},
    Setting{"SIRCL_CABLE_SLOTS", integer, "", "128", "",
            "messages under way per channel over cables", "", true, false, 8, 4096},
    Setting{"SIRCL_CABLE_SLOT_BYTES", size_bytes, "bytes", "32768", "",
            "largest message over cables", "", true, false, 1024, 1 << 20},
    Setting{"SIRCL_CONFIG_FILE", text, "", "", "",
            "file with lines NAME=value, weaker than the environment", ""},
    Setting{"SIRCL_DEBUG", choice, "", "warn", "none|warn|info|trace", "how much is logged", ""},
    Setting{"SIRCL_DEBUG_FILE", text, "", "", "",
            "file that the log is appended to instead of stderr", ""},
    Setting{"SIRCL_DEVICES", text, "", "", "",
            "interfaces or RDMA devices that may carry lanes: enp1 (prefix), =rocep1s0f0 (exact), "
            "^eno (not these); comma-separated; no effect yet",
            ""},
    Setting{"SIRCL_EPOCH", integer, "", "0", "",
            "start-up counter; ranks of another epoch are refused", "", false, false, 0},
    Setting{"SIRCL_FABRIC", text, "", "auto", "", "what is cabled: ring:N, path:N, pair or auto",
            "", true},
    Setting{"SIRCL_FABRIC_DOCUMENT", text, "", "", "",
            "fabric description of other tools; no effect yet", ""},
    Setting{"SIRCL_FABRIC_FILE", text, "", "", "",
            "file that pins the lanes: lines cable RANK:INTERFACE RANK:INTERFACE", ""},
    Setting{"SIRCL_GID_INDEX", text, "", "", "", "RoCE GID index; no effect yet",
            "NCCL_IB_GID_INDEX"},
    Setting{"SIRCL_GROUP", text, "", "", "",
            "name of the group, so that two jobs cannot meet by mistake", ""},
    Setting{"SIRCL_GROUPS", text, "", "", "", "groups of an engine that use sircl; no effect yet",
            ""},
    Setting{"SIRCL_LIVENESS_S", seconds, "s", "5", "",
            "how long the host of a rank may be silent before the rank is lost; a stopped process "
            "is not silent",
            "", false, false, 1, 3600},
    Setting{"SIRCL_LOCAL_RANK", integer, "", "", "", "rank among those of this host", "", false,
            false, 0},
    Setting{"SIRCL_MAX_RELAYS", text, "", "", "", "most relays of a route; no effect yet", ""},
    Setting{"SIRCL_METRICS_FILE", text, "", "", "",
            "Prometheus text file, written when a communicator ends; '{rank}' is replaced", ""},
    Setting{"SIRCL_NCCL", choice, "", "auto", "auto|never",
            "whether NCCL may carry anything; no effect yet", ""},
    Setting{"SIRCL_NUMERICS", choice, "", "default", "default|exact",
            "exact: one rounding of the rank-ordered sum whatever the size", "", true},
    Setting{"SIRCL_ONESHOT_MAX_BYTES", size_bytes, "bytes", "0", "",
            "largest all-reduce by exchange; 0: the transport's default", "", true, false, 0,
            1 << 26},
    Setting{"SIRCL_PIN", text, "", "none", "",
            "processor that a rank is bound to: none, auto (the next allowed one of its host) or a "
            "list such as 0,2,4-7 that is dealt out among the ranks of a host; the thread that "
            "makes the first communicator is bound, and those that it starts afterwards",
            ""},
    Setting{"SIRCL_PORT_RANGE", text, "", "", "",
            "FIRST-LAST: ports that the root may listen on; empty: any free one", ""},
    Setting{"SIRCL_PROGRESS_CPU", text, "", "", "",
            "processor of the progress thread; no effect yet", ""},
    Setting{"SIRCL_RANK", integer, "", "", "", "this process's rank, from 0", "", false, false, 0,
            65535},
    Setting{"SIRCL_RANK_POSITIONS", text, "", "", "",
            "positions of ranks on the fabric; no effect yet", ""},
    Setting{"SIRCL_ROOT", text, "", "", "", "where ranks meet: host:port of rank 0, or file:PATH",
            ""},
    Setting{"SIRCL_SECRET", text, "", "", "", "shared secret of the group", "", false, true},
    Setting{"SIRCL_SECRET_FILE", text, "", "", "",
            "file with the shared secret; readable by its owner only", ""},
    Setting{"SIRCL_SERVING_WAIT_S", seconds, "s", "600", "",
            "longest wait without progress inside an operation; long, because a peer may be "
            "compiling (other tools: 20)",
            "", false, false, 1},
    Setting{"SIRCL_SHM_PIECE_BYTES", size_bytes, "bytes", "262144", "",
            "bytes of an operation that stand on a board at once", "", true, false, 4096, 1 << 26},
    Setting{"SIRCL_SHM_SINGLE_COPY", choice, "", "auto", "auto|never|permit",
            "whether ranks of one host read each other's buffers (process_vm_readv); auto: where "
            "the system allows it; permit: also let every process of this user read this one",
            "", true},
    Setting{"SIRCL_SHM_SINGLE_COPY_MIN_BYTES", size_bytes, "bytes", "131072", "",
            "smallest operation that does so", "", true, false, 1},
    Setting{"SIRCL_SHM_SLOTS", integer, "", "16", "", "slots of a shared-memory channel", "", true,
            false, 2, 1024},
    Setting{"SIRCL_SHM_SLOT_BYTES", size_bytes, "bytes", "32768", "",
            "bytes of a slot; shrinks when there are many ranks", "", true, false, 1024, 1 << 24},
    Setting{"SIRCL_SIMD", text, "", "auto", "",
            "instruction set of the reduction kernels, as printed at start", ""},
    Setting{"SIRCL_SIZE", integer, "", "", "", "number of ranks", "", false, false, 1, 65536},
    Setting{"SIRCL_SOCKET_IFNAME", text, "", "", "",
            "interface of the management network, and of TCP between hosts: eth (prefix), =eth0 "
            "(exact), ^docker (not "
            "these); comma-separated",
            "NCCL_SOCKET_IFNAME"},
    Setting{"SIRCL_SPIN", integer, "", "auto", "auto",
            "polls before the first yield; auto: none with more ranks than processors", "", false,
            false, 0, 1'000'000'000},
    Setting{"SIRCL_STARTUP_WAIT_S", seconds, "s", "600", "",
            "how long ranks wait for each other at start", "", false, false, 1},
    Setting{
        "SIRCL_TCP_HOST", text, "", "", "",
        "address that this rank's data connections use; empty: that of SIRCL_SOCKET_IFNAME, else "
        "the one towards the root",
        ""},
    Setting{"SIRCL_TCP_SLOTS", integer, "", "16", "", "slots of a TCP channel", "", true, false, 2,
            1024},
    Setting{"SIRCL_TCP_SLOT_BYTES", size_bytes, "bytes", "122880", "", "bytes of a slot", "", true,
            false, 1024, 1 << 24},
    Setting{"SIRCL_TRAFFIC_CLASS", text, "", "", "", "RoCE traffic class; no effect yet",
            "NCCL_IB_TC"},
    Setting{"SIRCL_TRANSPORT", choice, "", "auto", "auto|shm|tcp",
            "auto: shm when all ranks share a host, else tcp", "", true},
    Setting{"SIRCL_TUNING_TABLE", text, "", "", "", "measured tuning; no effect yet", ""},
    Setting{"SIRCL_YIELD_US", integer, "us", "2000", "", "how long a wait yields before it sleeps",
            "", false, false, 0, 10'000'000},
};

}  // namespace

std::span<const Setting> registry() { return kRegistry; }

}  // namespace sircl::config
