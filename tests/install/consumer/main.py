"""One rank of an all-reduce through ctypes. Argument: the shared library."""
import ctypes
import sys

sircl = ctypes.CDLL(sys.argv[1])
sircl.sircl_last_error.restype = ctypes.c_char_p
sircl.sircl_version.restype = ctypes.c_char_p
SIRCL_I64, SIRCL_SUM = 10, 0


def check(status):
    if status != 0:
        sys.exit(sircl.sircl_last_error().decode())


comm = ctypes.c_void_p()
check(sircl.sircl_create(None, ctypes.byref(comm)))
rank, size = sircl.sircl_rank(comm), sircl.sircl_size(comm)
numbers = (ctypes.c_int64 * 1000)(*[rank + 1 + i for i in range(1000)])
check(sircl.sircl_all_reduce(comm, numbers, numbers, ctypes.c_size_t(1000), SIRCL_I64, SIRCL_SUM))
expected = [size * (size + 1) // 2 + size * i for i in range(1000)]
if list(numbers) != expected:
    sys.exit(f"rank {rank}: got {list(numbers)[:4]}..., expected {expected[:4]}...")
print(f"sircl {sircl.sircl_version().decode()}: rank {rank} of {size} is right")
sircl.sircl_destroy(comm)
sys.exit(0 if size == 2 else "not two ranks")
