"""Compiles and runs the marked code blocks of README.md. A block is marked by a line before its fence:

    <!-- example: NAME [ranks=N] -->

cpp, c, python and sh blocks are understood. All N ranks (default 1) of a block run here and must exit
with 0; sh blocks find the benchmark on PATH. A C or C++ program without a mark is an error: what the page
shows has to work.
Arguments: README.md, include folder, library, benchmark folder, C compiler, C++ compiler."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

readme, include, library, bench, cc, cxx = sys.argv[1:]
FENCE = re.compile(r"^```(\w*)\s*$")
MARK = re.compile(r"^<!-- example: (\w+)(?: ranks=(\d+))? -->$")
STRICT = ["-Wall", "-Wextra", "-Werror", f"-I{include}"]
LINK = [library, f"-Wl,-rpath,{os.path.dirname(library)}"]


class Example:
    def __init__(self, mark, language, line):
        self.name, self.ranks = (mark.group(1), int(mark.group(2) or 1)) if mark else (None, 1)
        self.language, self.line, self.text = language, line, ""

    def is_program(self):
        return self.language in ("c", "cpp") and re.search(r"\bint main\(", self.text)


def read_examples(path):
    blocks, open_block, mark = [], None, None
    for number, line in enumerate(pathlib.Path(path).read_text(encoding="utf-8").splitlines(), 1):
        fence = FENCE.match(line)
        if open_block and line.rstrip() == "```":
            blocks.append(open_block)
            open_block, mark = None, None
        elif open_block:
            open_block.text += line + "\n"
        elif fence:
            open_block = Example(mark, fence.group(1), number)
        elif "<!-- example" in line:
            mark = MARK.match(line.strip())
            if not mark:
                sys.exit(f"{path}:{number}: the mark must be <!-- example: NAME [ranks=N] -->")
        elif line.strip() and mark:
            sys.exit(f"{path}:{number}: a mark must stand right before its block")
    return blocks


def command_of(example, directory):
    """Compiles where needed; returns what runs one rank."""
    source = directory / f"example.{example.language}"
    source.write_text(example.text, encoding="utf-8")
    program = directory / "example"
    compilers = {"cpp": [cxx, "-std=c++20"], "c": [cc, "-std=c99", "-pedantic"]}
    if example.language in compilers:
        subprocess.run([*compilers[example.language], *STRICT, source, "-o", program, *LINK], check=True)
        return [program]
    if example.language == "python":
        return [sys.executable, source]
    if example.language == "sh":
        return ["sh", "-e", source]
    sys.exit(f"{readme}:{example.line}: no way to run a block of {example.language or 'no language'}")


def run(example):
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        command = command_of(example, directory)
        ranks = []
        for rank in range(example.ranks):
            env = dict(os.environ, SIRCL_STARTUP_WAIT_S="60", LD_LIBRARY_PATH=os.path.dirname(library),
                       PATH=f"{bench}:{os.environ['PATH']}")
            if example.ranks > 1:
                env.update(SIRCL_RANK=str(rank), SIRCL_SIZE=str(example.ranks),
                           SIRCL_ROOT=f"file:{directory}/root")
            ranks.append(subprocess.Popen(command, env=env, cwd=directory, text=True,
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
        texts = [rank.communicate(timeout=120)[0] for rank in ranks]
    for rank, text in enumerate(texts):
        print(f"{example.name}, rank {rank}: exit {ranks[rank].returncode}\n{text}", end="")
    return all(rank.returncode == 0 for rank in ranks)


blocks = read_examples(readme)
for block in blocks:
    if block.is_program() and not block.name:
        sys.exit(f"{readme}:{block.line}: a program without a mark <!-- example: NAME ranks=N -->")
examples = [block for block in blocks if block.name]
if not any(example.language == "cpp" for example in examples):
    sys.exit(f"{readme} has no marked C++ block")
failed = [example.name for example in examples if not run(example)]
print(f"{len(examples)} examples, failed: {', '.join(failed) or 'none'}")
sys.exit(1 if failed else 0)
