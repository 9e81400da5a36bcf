// What the fragments of docs/inspect.md use.
#include <nereid/inspect.h>
#include <nereid/nereid.h>

using namespace nereid;

struct Context {
  std::shared_ptr<const CompiledKernel> compiled;
};
#define NAMES auto &compiled = context.compiled;
