"""The shared library shows its own names only, the C names are those of the committed list, and the
SONAME is the promised one. Arguments: nm readelf library soname list."""
import re
import subprocess
import sys

nm, readelf, library, soname, listed = sys.argv[1:]


def output(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


problems = []
rows = [line.split(maxsplit=2) for line in output(nm, "-D", "--defined-only", "-C", library).splitlines()]
names = sorted({row[-1] for row in rows})
own = re.compile(r"(sircl_\w+|((typeinfo|vtable|typeinfo name|guard variable) for )?sircl::.*)$")
for name in names:
    if not own.match(name):
        problems.append(f"shows a name that is not its own: {name}")

exported = {name for name in names if name.startswith("sircl_")}
with open(listed, encoding="utf-8") as file:
    promised = {line.strip() for line in file if line.strip() and not line.startswith("#")}
for name in sorted(promised - exported):
    problems.append(f"{name} is listed in {listed} but gone from the library: an incompatible change")
for name in sorted(exported - promised):
    problems.append(f"{name} is new: add it to {listed}")

found = re.search(r"\(SONAME\).*\[(.*)\]", output(readelf, "-d", library))
if not found or found.group(1) != soname:
    problems.append(f"SONAME is {found and found.group(1)}, not {soname}")

for problem in problems:
    print(f"{library}: {problem}")
print(f"{len(names)} names, {len(exported)} of them C")
sys.exit(1 if problems else 0)
