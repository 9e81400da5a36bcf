#pragma once

// What libnereid_hip.so exports in addition to HIP, for tests of programs that use HIP. Plain C.

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Lets the n-th call of an entry point from now on fail with a hipError_t and do nothing; n = 0: none does.
/// Not 0 when there is no such entry point.
int nereid_hip_fail(const char *entry, uint64_t n, int error);
/// How often an entry point was called; 0 when there is none of that name.
uint64_t nereid_hip_calls(const char *entry);
/// The name of an entry point by its number, from 0 on; null after the last.
const char *nereid_hip_entry(unsigned number);
/// How many there are now of what a program made and has to destroy: "memory" (allocations of devices),
/// "bytes" (in them), "host memory", "streams", "events", "modules", "graphs", "graph execs", "pools". -1: no
/// such kind.
int64_t nereid_hip_living(const char *kind);
/// Whether launches run (1, as at the beginning unless NEREID_HIP_LAUNCH is none) or do nothing (0).
void nereid_hip_run_launches(int run);
/// The text of the last fault of a kernel, empty before the first. Valid until the next fault.
const char *nereid_hip_fault(void);

#ifdef __cplusplus
}
#endif
