#ifndef NEREID_C_API_H
#define NEREID_C_API_H

/* The kernel library and the loading of code objects for programs in C and for languages that call C:
 * libnereid.so.
 *
 * ABI rule. NEREID_C_API_VERSION names this ABI. Within a version functions, constants and members at the end
 * of structs that the library hands out are added, nothing is changed or removed. A program checks once that
 * nereid_c_api_version() is the version it was compiled with.
 *
 * Errors. A function that can fail returns a nereid_status: NEREID_OK, or who has to act. nereid_last_error()
 * says what is wrong. Output arguments are then untouched. No C++ exception leaves the library.
 *
 * Ownership. A handle belongs to the caller, who destroys it once; NULL may be destroyed. What a handle was
 * made from may be destroyed before it. A pointer that a function returns belongs to the handle it was asked
 * of.
 *
 * Threads. All functions may be called from several threads at once; a handle must not be in use on another
 * thread when it is destroyed.
 *
 * Queues. Where a stream is asked for, NULL is the default stream of the device. Launches are queued: on a
 * GPU they may still run when the call returns, on the simulator they are over. Memory that a launch uses,
 * its module and its operation have to outlive it. */

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define NEREID_API __attribute__((visibility("default")))
#else
#define NEREID_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Of this header. */
#define NEREID_C_API_VERSION 1u

/* The version of the ABI that the library has. */
NEREID_API uint32_t nereid_c_api_version(void);
/* The version of Nereid, "0.1.0". */
NEREID_API const char *nereid_version(void);

/* ---- Errors ---- */

/* Success, or whose fault it is. */
typedef int32_t nereid_status;
enum {
  NEREID_OK = 0,
  NEREID_USER_ERROR = 1,       /* the caller: arguments, files, a kernel of the caller's */
  NEREID_NEREID_ERROR = 2,     /* a defect or a missing part of Nereid */
  NEREID_DEVICE_ERROR = 3,     /* a fault while a kernel ran */
  NEREID_ENVIRONMENT_ERROR = 4 /* the machine: libraries, files, memory */
};

/* Members are added at the end. Strings are never NULL. */
typedef struct nereid_error_info {
  nereid_status owner;
  const char *message; /* what is wrong */
  const char *remedy;  /* what to do about it, or "" */
  const char *where;   /* "file:line" of a kernel's source, or "" */
} nereid_error_info;

/* What the last call that failed on this thread said; of a thread without one, NEREID_OK and empty strings.
 * It is valid until the next call that fails on this thread. */
NEREID_API const nereid_error_info *nereid_last_error(void);
/* "user", "nereid", "device" or "environment"; "" for NEREID_OK. */
NEREID_API const char *nereid_owner_name(nereid_status owner);

/* ---- Devices and streams ---- */

typedef struct nereid_device nereid_device;
typedef struct nereid_stream nereid_stream;

/* Opens "hip" (GPU number `index`), "sim" (a simulator of its own with its own memory; index is 0) or "auto"
 * (the first gfx950 GPU, else the simulator; index is 0). Errors: user: another name or index; environment:
 * no GPU. */
NEREID_API nereid_status nereid_device_open(const char *name, int32_t index, nereid_device **device);
NEREID_API void nereid_device_close(nereid_device *device);
/* For people: "gfx950 simulator", or the GPU's own name. */
NEREID_API const char *nereid_device_name(const nereid_device *device);
/* Whether kernels run on the simulator (1) or on a GPU (0). */
NEREID_API int32_t nereid_device_is_simulator(const nereid_device *device);
/* Waits for all streams. Errors: device: a launch faulted. */
NEREID_API nereid_status nereid_device_synchronize(const nereid_device *device);

/* A stream of its own, unordered with the others. */
NEREID_API nereid_status nereid_stream_create(const nereid_device *device, nereid_stream **stream);
/* A stream that the caller owns, a hipStream_t, and destroys after the last use here; NULL is the default
 * stream. On the simulator it is only a name: the same handle is the same stream. Errors: user: a stream of
 * another GPU. */
NEREID_API nereid_status nereid_stream_wrap(const nereid_device *device, void *hip_stream,
                                            nereid_stream **stream);
NEREID_API void nereid_stream_destroy(nereid_stream *stream);
NEREID_API nereid_status nereid_stream_synchronize(const nereid_stream *stream);

/* ---- Memory ---- */

typedef struct nereid_buffer nereid_buffer;

/* A piece of device memory that somebody owns: a nereid_buffer, or on a GPU memory of the caller's. */
typedef struct nereid_memory {
  uint64_t address; /* on the device */
  uint64_t bytes;
} nereid_memory;

/* Device memory with undefined content. Errors: user: it does not fit; environment, device: HIP fails. */
NEREID_API nereid_status nereid_buffer_create(const nereid_device *device, uint64_t bytes,
                                              nereid_buffer **buffer);
NEREID_API void nereid_buffer_destroy(nereid_buffer *buffer);
/* All of a buffer; NULL gives no memory. */
NEREID_API nereid_memory nereid_buffer_memory(const nereid_buffer *buffer);
/* Copies between the host and bytes `offset` to `offset + bytes` of the buffer, after what the default stream
 * holds; over when it returns. Errors: user: beyond the buffer. */
NEREID_API nereid_status nereid_buffer_write(nereid_buffer *buffer, uint64_t offset, const void *from,
                                             uint64_t bytes);
NEREID_API nereid_status nereid_buffer_read(const nereid_buffer *buffer, uint64_t offset, void *to,
                                            uint64_t bytes);
/* Sets every byte. */
NEREID_API nereid_status nereid_buffer_fill(nereid_buffer *buffer, uint8_t byte);

/* ---- MXFP4 ---- */

/* Formats: docs/kernels.md. bf16 is two bytes, little-endian; e2m1 codes are packed two a byte, the even k
 * low; e8m0 scales are a byte for 32 values along k. Sizes are in elements; k is a multiple of 32, n of 16.
 */

/* Bytes of a [n, k] matrix of codes in (16,16)-shuffled order, and of the shuffled, padded scales of a [rows,
 * k] matrix; 0 where a size is not from 1 to 2^21. */
NEREID_API uint64_t nereid_mxfp4_shuffled_b_bytes(int64_t n, int64_t k);
NEREID_API uint64_t nereid_mxfp4_shuffled_scale_bytes(int64_t rows, int64_t k);
/* On the host: codes [n, k/2] to shuffled order, scales [rows, k/32] to shuffled order with 127 as padding.
 * Errors: user: a size that is no such multiple. */
NEREID_API nereid_status nereid_mxfp4_shuffle_b(int64_t n, int64_t k, const uint8_t *codes,
                                                uint8_t *shuffled);
NEREID_API nereid_status nereid_mxfp4_shuffle_scales(int64_t rows, int64_t k, const uint8_t *scales,
                                                     uint8_t *shuffled);

/* bf16 [m, k] to codes [m, k/2] and scales, [m, k/32] or, where `shuffled` is not 0, in shuffled order, of
 * which the padding is left as it is. Errors: user: a size, memory that is too short. */
NEREID_API nereid_status nereid_mxfp4_quant(const nereid_device *device, const nereid_stream *stream,
                                            int64_t m, int64_t k, int32_t shuffled, nereid_memory x,
                                            nereid_memory codes, nereid_memory scales);

/* C = A times B transposed, A quantised to MXFP4 on the way. The operation keeps a workspace for each stream
 * that it was called on. */
typedef struct nereid_mxfp4_linear nereid_mxfp4_linear;

/* Of C = A times B transposed, in device memory. */
typedef struct nereid_mxfp4_linear_operands {
  nereid_memory a;        /* bf16 [m, k] */
  nereid_memory b;        /* e2m1 [n, k/2] in (16,16)-shuffled order */
  nereid_memory b_scales; /* e8m0 of B in shuffled, padded order; the padding may hold anything */
  nereid_memory c;        /* out: bf16 [m, n] */
} nereid_mxfp4_linear_operands;

/* How the product is computed: the library's choice, one fused kernel, with a K split whose parts are added
 * atomically or in a workspace, or by quantising A first. */
typedef int32_t nereid_mxfp4_path;
enum {
  NEREID_MXFP4_AUTO = 0,
  NEREID_MXFP4_FUSED = 1,
  NEREID_MXFP4_ATOMIC = 2,
  NEREID_MXFP4_WORKSPACE = 3,
  NEREID_MXFP4_STAGED = 4
};

/* Errors: user: a NULL argument. */
NEREID_API nereid_status nereid_mxfp4_linear_create(const nereid_device *device,
                                                    nereid_mxfp4_linear **linear);
/* Queues the product; the first call of a shape compiles. Errors: user: a size or path, a null or short
 * operand, a stream of another device. */
NEREID_API nereid_status nereid_mxfp4_linear_run(nereid_mxfp4_linear *linear, const nereid_stream *stream,
                                                 int64_t m, int64_t n, int64_t k, nereid_mxfp4_path path,
                                                 const nereid_mxfp4_linear_operands *operands);
/* Builds the kernels of a product and makes the stream's workspace, and launches nothing: what comes before a
 * capture of nereid_mxfp4_linear_run. Addresses count by their divisibility by 16. */
NEREID_API nereid_status nereid_mxfp4_linear_prepare(nereid_mxfp4_linear *linear, const nereid_stream *stream,
                                                     int64_t m, int64_t n, int64_t k, nereid_mxfp4_path path,
                                                     const nereid_mxfp4_linear_operands *operands);
/* Gives up what it keeps between calls; waits for launches that use it. */
NEREID_API nereid_status nereid_mxfp4_linear_trim(nereid_mxfp4_linear *linear);
/* Its launches have to be over. */
NEREID_API void nereid_mxfp4_linear_destroy(nereid_mxfp4_linear *linear);

/* ---- Code objects ---- */

/* A gfx950 code object that something else made: `nereid aot`, hipcc, an assembler. */
typedef struct nereid_module nereid_module;
typedef struct nereid_kernel nereid_kernel;

/* An ELF code object or a clang offload bundle, in memory or in a file. Errors: user: no such file, another
 * ISA than gfx950, no kernels. */
NEREID_API nereid_status nereid_module_load(const nereid_device *device, const void *code_object,
                                            uint64_t bytes, nereid_module **module);
NEREID_API nereid_status nereid_module_load_file(const nereid_device *device, const char *path,
                                                 nereid_module **module);
NEREID_API void nereid_module_unload(nereid_module *module);
NEREID_API uint32_t nereid_module_kernel_count(const nereid_module *module);
/* NULL where there are not so many. */
NEREID_API const char *nereid_module_kernel_name(const nereid_module *module, uint32_t index);

/* The kernel of that name; NULL: the only one. Errors: user: no such kernel (those there are are listed). */
NEREID_API nereid_status nereid_module_kernel(const nereid_module *module, const char *name,
                                              nereid_kernel **kernel);
NEREID_API void nereid_kernel_destroy(nereid_kernel *kernel);

/* What the metadata says of a kernel. Members are added at the end. */
typedef struct nereid_kernel_info {
  uint64_t struct_size;        /* set by the caller: sizeof(nereid_kernel_info) */
  uint32_t vgprs;              /* vector registers a lane, both kinds together */
  uint32_t agprs;              /* of these, accumulation registers */
  uint32_t sgprs;              /* scalar registers a wave */
  uint32_t lds;                /* bytes a workgroup */
  uint32_t scratch;            /* bytes a lane */
  uint32_t spills;             /* registers */
  uint32_t occupancy;          /* waves that a SIMD holds at once */
  uint32_t kernarg_size;       /* bytes of the argument block, hidden arguments included */
  uint32_t argument_count;     /* that the caller gives */
  uint32_t max_workgroup_size; /* work-items */
} nereid_kernel_info;
/* Fills in struct_size bytes at most. Errors: user: struct_size is smaller than the first version's. */
NEREID_API nereid_status nereid_kernel_get_info(const nereid_kernel *kernel, nereid_kernel_info *info);

/* How many work-items a launch has, and their LDS. */
typedef struct nereid_launch_shape {
  uint32_t grid[3];     /* workgroups */
  uint32_t block[3];    /* work-items of each */
  uint32_t dynamic_lds; /* bytes a workgroup in addition to the kernel's own */
} nereid_launch_shape;

/* An argument of a launch: device memory where `value` is NULL, else `bytes` bytes at `value`. */
typedef struct nereid_argument {
  uint64_t address;
  const void *value;
  uint64_t bytes;
} nereid_argument;

/* Arguments of a launch: device memory, and the bytes of a value, which have to stay until it is called. */
static inline nereid_argument nereid_memory_argument(nereid_memory memory) {
  nereid_argument argument = {memory.address, NULL, 8};
  return argument;
}
static inline nereid_argument nereid_value_argument(const void *value, uint64_t bytes) {
  nereid_argument argument = {0, value, bytes};
  return argument;
}

/* Launches with arguments in the order of the metadata. Errors: user: their number, kinds or sizes are not
 * those of the metadata, limits of the kernel or the device are exceeded, a stream of another device; device:
 * it faulted. */
NEREID_API nereid_status nereid_kernel_launch(const nereid_kernel *kernel, const nereid_stream *stream,
                                              const nereid_launch_shape *shape,
                                              const nereid_argument *arguments, uint32_t count);
/* Launches with the bytes of the argument block, laid out as the metadata says; hidden arguments are
 * replaced. */
NEREID_API nereid_status nereid_kernel_launch_raw(const nereid_kernel *kernel, const nereid_stream *stream,
                                                  const nereid_launch_shape *shape, const void *arguments,
                                                  uint64_t bytes);

#ifdef __cplusplus
}
#endif

#endif
