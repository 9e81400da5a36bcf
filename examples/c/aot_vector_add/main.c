/* z = x + y with the launcher that export.cpp had written. Neither Nereid nor LLVM is part of this program:
 * it needs HIP alone, which it opens as vector_add.c does. A program of yours would include
 * hip/hip_runtime_api.h. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "vector_add.h"

enum { n = 5000, no_hip = 77, to_device = 1, to_host = 2 };

static void *hip;

/* A function of HIP. */
static int find(const char *name, void *function) {
  void *symbol = dlsym(hip, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}

static float x[n], y[n], z[n];

int main(void) {
  int (*hip_malloc)(void **, size_t), (*hip_free)(void *), (*copy)(void *, const void *, size_t, int);
  int (*count_devices)(int *);
  hip = dlopen("libamdhip64.so.7", RTLD_NOW);
  int devices = 0;
  if (!hip || !find("hipMalloc", &hip_malloc) || !find("hipFree", &hip_free) || !find("hipMemcpy", &copy) ||
      !find("hipGetDeviceCount", &count_devices) || count_devices(&devices) || devices == 0) {
    printf("aot_vector_add: no HIP with a GPU here\n");
    return no_hip;
  }

  for (int i = 0; i < n; ++i) {
    x[i] = 0.5F * (float)i;
    y[i] = 1000.0F - (float)i;
  }
  void *there[3] = {NULL, NULL, NULL};
  for (int i = 0; i < 3; ++i)
    if (hip_malloc(&there[i], sizeof x))
      return 1;
  if (copy(there[0], x, sizeof x, to_device) || copy(there[1], y, sizeof y, to_device))
    return 1;

  nereid_aot_kernel add;
  nereid_aot_error error;
  if (vector_add_load(&add, &error) ||
      vector_add_launch(&add, NULL, there[0], there[1], there[2], n, &error)) {
    fprintf(stderr, "aot_vector_add: %s (status %d, HIP's code %d)\n", error.message, error.status,
            error.hip_code);
    return 1;
  }
  if (copy(z, there[2], sizeof z, to_host))
    return 1;
  int wrong = 0;
  for (int i = 0; i < n; ++i)
    wrong += z[i] != x[i] + y[i];
  /* An address that the code cannot use is refused before HIP sees it. */
  const int refused = vector_add_launch(&add, NULL, (float *)there[0] + 1, there[1], there[2], n, &error);
  printf("aot_vector_add: %d elements, %d wrong, refused: %s\n", n, wrong,
         refused == NEREID_AOT_REFUSED ? error.message : "nothing");
  vector_add_unload(&add);
  for (int i = 0; i < 3; ++i)
    hip_free(there[i]);
  return wrong != 0 || refused != NEREID_AOT_REFUSED;
}
