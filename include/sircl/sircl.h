/* C interface of sircl, made for ctypes and other languages. Same rules as communicator.hpp.
 *
 * Every call returns a sircl_status (0 is success). The text of the last error of the calling thread
 * is sircl_last_error(), valid until the next call of this thread. Handles are not copied; each
 * *_create or *_split is ended by one sircl_destroy, each *_async by one sircl_work_wait. */
#ifndef SIRCL_SIRCL_H
#define SIRCL_SIRCL_H

#include <stddef.h>
#include <stdint.h>

#include "sircl/export.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int sircl_status; /* the values of sircl::StatusCode */

typedef enum {
  SIRCL_F64 = 0, SIRCL_F32 = 1, SIRCL_F16 = 2, SIRCL_BF16 = 3, SIRCL_F8E4M3 = 4, SIRCL_F8E5M2 = 5,
  SIRCL_I8 = 6, SIRCL_U8 = 7, SIRCL_I32 = 8, SIRCL_U32 = 9, SIRCL_I64 = 10, SIRCL_U64 = 11
} sircl_type;

typedef enum {
  SIRCL_SUM = 0, SIRCL_PRODUCT = 1, SIRCL_MIN = 2, SIRCL_MAX = 3, SIRCL_AVERAGE = 4
} sircl_op;

typedef struct sircl_comm sircl_comm; /* a communicator */
typedef struct sircl_work sircl_work; /* an operation under way */

typedef struct {
  unsigned char bytes[128];
} sircl_unique_id;

typedef struct {
  uint64_t operations, bytes_in, bytes_sent, bytes_received, yields, sleeps, failures,
      single_copies;
} sircl_counters;

SIRCL_API const char* sircl_version(void);
SIRCL_API const char* sircl_last_error(void);
/* "ok", "invalid_argument", ... */
SIRCL_API const char* sircl_status_name(sircl_status status);

/* settings: "NAME=value" strings, ended by NULL; NULL for none. Collective. */
SIRCL_API sircl_status sircl_create(const char* const* settings, sircl_comm** comm);
SIRCL_API sircl_status sircl_make_unique_id(int size, const char* const* settings, sircl_unique_id* id);
SIRCL_API sircl_status sircl_create_with_id(const sircl_unique_id* id, int rank, int size,
                                            const char* const* settings, sircl_comm** comm);
SIRCL_API sircl_status sircl_split(sircl_comm* comm, int color, int key, sircl_comm** part);
SIRCL_API void sircl_destroy(sircl_comm* comm);
SIRCL_API int sircl_rank(const sircl_comm* comm);
SIRCL_API int sircl_size(const sircl_comm* comm);

SIRCL_API sircl_status sircl_all_reduce(sircl_comm*, const void* in, void* out, size_t count, sircl_type, sircl_op);
SIRCL_API sircl_status sircl_all_gather(sircl_comm*, const void* in, void* out, size_t count, sircl_type);
/* counts: one per rank */
SIRCL_API sircl_status sircl_all_gather_v(sircl_comm*, const void* in, void* out, const size_t* counts, sircl_type);
SIRCL_API sircl_status sircl_reduce_scatter(sircl_comm*, const void* in, void* out, size_t count, sircl_type, sircl_op);
SIRCL_API sircl_status sircl_broadcast(sircl_comm*, const void* in, void* out, size_t count, sircl_type, int root);
SIRCL_API sircl_status sircl_reduce(sircl_comm*, const void* in, void* out, size_t count, sircl_type, sircl_op, int root);
SIRCL_API sircl_status sircl_gather(sircl_comm*, const void* in, void* out, size_t count, sircl_type, int root);
SIRCL_API sircl_status sircl_scatter(sircl_comm*, const void* in, void* out, size_t count, sircl_type, int root);
SIRCL_API sircl_status sircl_all_to_all(sircl_comm*, const void* in, void* out, size_t count, sircl_type);
SIRCL_API sircl_status sircl_all_to_all_v(sircl_comm*, const void* in, void* out, const size_t* send_counts,
                                          const size_t* receive_counts, sircl_type);
SIRCL_API sircl_status sircl_send(sircl_comm*, const void* data, size_t count, sircl_type, int destination);
SIRCL_API sircl_status sircl_receive(sircl_comm*, void* data, size_t count, sircl_type, int source);
SIRCL_API sircl_status sircl_barrier(sircl_comm*);

SIRCL_API sircl_status sircl_all_reduce_async(sircl_comm*, const void* in, void* out, size_t count, sircl_type,
                                              sircl_op, sircl_work** work);
SIRCL_API sircl_status sircl_all_gather_async(sircl_comm*, const void* in, void* out, size_t count, sircl_type,
                                              sircl_work** work);
SIRCL_API sircl_status sircl_send_async(sircl_comm*, const void* data, size_t count, sircl_type, int destination,
                                        sircl_work** work);
SIRCL_API sircl_status sircl_receive_async(sircl_comm*, void* data, size_t count, sircl_type, int source,
                                           sircl_work** work);
/* Waits and frees the handle. */
SIRCL_API sircl_status sircl_work_wait(sircl_work* work);
SIRCL_API int sircl_work_done(const sircl_work* work);

SIRCL_API sircl_status sircl_group_start(void);
SIRCL_API sircl_status sircl_group_end(void);

SIRCL_API void sircl_abort(sircl_comm*, const char* reason);
SIRCL_API sircl_status sircl_comm_status(const sircl_comm*);
SIRCL_API void sircl_read_counters(const sircl_comm*, sircl_counters* counters);
/* Copies text of at most size-1 bytes and a zero; returns the length of the whole text. */
SIRCL_API size_t sircl_counters_json(const sircl_comm*, char* text, size_t size);
SIRCL_API size_t sircl_describe(const sircl_comm*, char* text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
