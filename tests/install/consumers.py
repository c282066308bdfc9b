"""Uses the installed package as others do. One function per kind of consumer; each builds a program,
runs it as two ranks that meet through a file, and fails unless both get the right sums."""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77


def run(*command, env=None, check=True):
    words = [str(word) for word in command]
    done = subprocess.run(words, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if check and done.returncode != 0:
        sys.exit(f"{' '.join(words)}\nexit {done.returncode}\n{done.stdout}")
    return done


def run_two_ranks(*command, library_path=None):
    """Both ranks must succeed; what they say is shown."""
    with tempfile.TemporaryDirectory() as directory:
        ranks = []
        for rank in range(2):
            env = dict(os.environ, SIRCL_RANK=str(rank), SIRCL_SIZE="2", SIRCL_STARTUP_WAIT_S="30",
                       SIRCL_ROOT=f"file:{directory}/root")
            if library_path:
                env["LD_LIBRARY_PATH"] = str(library_path)
            ranks.append(subprocess.Popen([str(word) for word in command], env=env, text=True,
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
        texts = [rank.communicate(timeout=60)[0] for rank in ranks]
    print("".join(texts), end="")
    if any(rank.returncode != 0 for rank in ranks):
        sys.exit(f"exit codes {[rank.returncode for rank in ranks]}")
    if any("is right" not in text for text in texts):
        sys.exit("a rank did not say that its sums are right")


def clean(path):
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path


def install(args):
    clean(args.prefix)
    run(args.cmake, "--install", args.build, "--prefix", args.prefix)
    for name in ["include/sircl/sircl.hpp", "include/sircl/sircl.h", "share/licenses/sircl/LICENSE"]:
        if not (args.prefix / name).is_file():
            sys.exit(f"{name} was not installed")


def libdir(args):
    return next(args.prefix.rglob("libsircl.so")).parent


def cmake_project(args, name, *settings, target="consumer"):
    build = clean(args.scratch / name)
    compilers = [f"-DCMAKE_CXX_COMPILER={args.cxx}", f"-DCMAKE_C_COMPILER={args.cc}"]
    configured = run(args.cmake, "-S", HERE / "consumer" / name, "-B", build, "-G", "Ninja", *compilers,
                     *settings, check=False)
    if configured.returncode == 0:
        run(args.cmake, "--build", build, "--target", target)
    return configured, build / "consumer"


def find_package(args):
    prefix = f"-DCMAKE_PREFIX_PATH={args.prefix}"
    next_version = "0.2" if args.version.startswith("0.1") else "99.0"
    refused, _ = cmake_project(args, "find_package", prefix, f"-DVERSION={next_version}")
    if refused.returncode == 0:
        sys.exit(f"find_package(sircl {next_version}) accepted version {args.version}")
    configured, program = cmake_project(args, "find_package", prefix, f"-DVERSION={args.version}")
    if configured.returncode != 0:
        sys.exit(configured.stdout)
    run_two_ranks(program)


def add_subdirectory(args):
    # Fast to compile: kernels for one instruction set, not optimized.
    settings = [f"-DSIRCL_SOURCE={args.source}", "-DCMAKE_BUILD_TYPE=Debug",
                "-DCMAKE_CXX_FLAGS_DEBUG=-O0 -DHWY_COMPILE_ONLY_STATIC"]
    ccache = shutil.which("ccache")
    if ccache:
        settings += [f"-DCMAKE_CXX_COMPILER_LAUNCHER={ccache}"]
    configured, program = cmake_project(args, "add_subdirectory", *settings)
    if configured.returncode != 0:
        sys.exit(configured.stdout)
    run_two_ranks(program)


def pkg_config_flags(args):
    pkg_config = shutil.which("pkg-config")
    if not pkg_config:
        print("SKIPPED: pkg-config is not installed")
        sys.exit(SKIPPED)
    env = dict(os.environ, PKG_CONFIG_PATH=str(libdir(args) / "pkgconfig"))
    version = run(pkg_config, "--modversion", "sircl", env=env).stdout.strip()
    if version != args.version:
        sys.exit(f"pkg-config says version {version}, the project {args.version}")
    return run(pkg_config, "--cflags", "--libs", "sircl", env=env).stdout.split()


def pkg_config(args):
    program = clean(args.scratch / "pkg_config") / "consumer"
    run(args.cxx, "-std=c++20", HERE / "consumer/main.cpp", "-o", program, *pkg_config_flags(args))
    run_two_ranks(program, library_path=libdir(args))


def c99(args):
    program = clean(args.scratch / "c99") / "consumer"
    run(args.cc, "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", HERE / "consumer/main.c", "-o",
        program, *pkg_config_flags(args))
    run_two_ranks(program, library_path=libdir(args))


def ctypes(args):
    run_two_ranks(sys.executable, HERE / "consumer/main.py", libdir(args) / "libsircl.so")


def headers(args):
    """Every public header compiles alone and without a warning."""
    scratch = clean(args.scratch / "headers")
    found = sorted((args.prefix / "include/sircl").iterdir())
    if not found:
        sys.exit("no headers are installed")
    strict = ["-Wall", "-Wextra", "-Wshadow", "-pedantic", "-Werror", "-fsyntax-only",
              f"-I{args.prefix / 'include'}"]
    for header in found:
        text = f"#include <sircl/{header.name}>\n#include <sircl/{header.name}>\n"
        (scratch / "alone.cpp").write_text(text)
        run(args.cxx, "-std=c++20", *strict, scratch / "alone.cpp")
        if header.suffix == ".h":
            # A file of declarations only is no valid C file of its own before C23.
            (scratch / "alone.c").write_text(text + "extern int present;\n")
            run(args.cc, "-std=c99", *strict, scratch / "alone.c")
        print(f"{header.name} compiles alone")


def main():
    parser = argparse.ArgumentParser()
    kinds = [install, find_package, add_subdirectory, pkg_config, c99, ctypes, headers]
    parser.add_argument("kind", choices=[kind.__name__ for kind in kinds])
    for option in ["cmake", "cc", "cxx", "version"]:
        parser.add_argument(f"--{option}", required=True)
    for option in ["source", "build", "scratch"]:
        parser.add_argument(f"--{option}", required=True, type=pathlib.Path)
    args = parser.parse_args()
    args.prefix = args.scratch / "prefix"
    {kind.__name__: kind for kind in kinds}[args.kind](args)


main()
