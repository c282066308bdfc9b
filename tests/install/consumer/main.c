/* One rank of an all-reduce through the installed C interface, in C99. */
#include <sircl/sircl.h>
#include <stdio.h>

static int complain(void) {
  fprintf(stderr, "%s\n", sircl_last_error());
  return 1;
}

int main(void) {
  enum { count = 1000 };
  static double in[count];
  static double out[count];
  double expected;
  sircl_comm* comm = NULL;
  int i;
  int size;
  if (sircl_create(NULL, &comm) != 0) return complain();
  size = sircl_size(comm);
  for (i = 0; i < count; ++i) in[i] = sircl_rank(comm) + 1 + i;
  if (sircl_all_reduce(comm, in, out, count, SIRCL_F64, SIRCL_SUM) != 0) return complain();
  for (i = 0; i < count; ++i) {
    expected = size * (size + 1) / 2 + (double)size * i;
    if (out[i] != expected) {
      fprintf(stderr, "element %d: got %g, expected %g\n", i, out[i], expected);
      return 1;
    }
  }
  printf("sircl %s: rank %d of %d is right\n", sircl_version(), sircl_rank(comm), size);
  sircl_destroy(comm);
  return size == 2 ? 0 : 1;
}
