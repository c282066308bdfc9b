#!/usr/bin/env python3
"""The folder tree is the architecture: includes may only point down, see lib/README.md."""
import pathlib
import re
import sys

ALLOWED = {
    "base": set(),
    "config": {"base"},
    "sys": {"base"},
    "topology": {"base"},
    "schedule": {"base"},
    "reduce": set(),
    "probe": {"base", "config", "sys", "topology"},
    "bootstrap": {"base", "config", "sys"},
    "transport": {"base", "sys"},
    "cable": {"base", "transport"},
    "relay": {"base", "transport", "cable", "topology"},
    "exec": {"base", "schedule", "reduce", "transport", "cable", "relay"},
    "comm": {"base", "config", "sys", "topology", "schedule", "reduce", "probe", "bootstrap",
             "transport", "cable", "relay", "exec"},
}
# Pure layers: no I/O, time, threads or logging.
PURE = {"topology", "schedule", "reduce"}
IMPURE = re.compile(r'#include <(thread|mutex|chrono|fstream|iostream|cstdio|unistd\.h|sys/.*|poll\.h)>|base/log')
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"/]+)/([^"]+)"', re.M)


def violations(root: pathlib.Path):
    for path in sorted((root / "lib").rglob("*")):
        if path.suffix not in (".hpp", ".cpp", ".h"):
            continue
        layer = path.relative_to(root / "lib").parts[0]
        text = path.read_text()
        where = path.relative_to(root)
        if layer not in ALLOWED:
            yield f"{where}: layer {layer} is not in the list of this test"
            continue
        for target, _ in INCLUDE.findall(text):
            if target not in ALLOWED[layer] | {layer, "sircl"}:
                yield f"{where}: {layer} must not include {target}/"
        if layer in PURE and (match := IMPURE.search(text)):
            yield f"{where}: {layer} is pure, but has {match.group(0)}"
        if layer == "transport":
            kind = path.relative_to(root / "lib").parts[1]
            for target in re.findall(r'#include "transport/(\w+)/', text):
                if target != kind and kind in ("shm", "tcp", "verbs"):
                    yield f"{where}: transports must not include each other"
        if layer != "config" and re.search(r"\bgetenv\b|\benviron\b", text):
            yield f"{where}: only config reads the environment"
    for folder in ("bench", "tools/engine", "tools/local_ranks"):
        for path in sorted((root / folder).rglob("*.?pp")):
            if path.name.startswith("micro_"):
                continue
            for target, _ in INCLUDE.findall(path.read_text()):
                if target in ALLOWED:
                    yield f"{path.relative_to(root)}: uses lib/{target}, but only public headers are allowed"
    # The command line looks into what the library is made of, but stands beside the communicator.
    for path in sorted((root / "tools/sircl").rglob("*.?pp")):
        for target, _ in INCLUDE.findall(path.read_text()):
            if target == "comm":
                yield f"{path.relative_to(root)}: must not include comm/, but the public headers"
    for path in sorted((root / "include").rglob("*.hpp")):
        for target, _ in INCLUDE.findall(path.read_text()):
            if target != "sircl":
                yield f"{path.relative_to(root)}: a public header must not include {target}/"


found = list(violations(pathlib.Path(sys.argv[1])))
print("\n".join(found) if found else "all includes follow the layers")
sys.exit(1 if found else 0)
