// The resources of the one kernel in a code object that a compiler of ours made.
#include "jit/compile/code_object_info.h"

#include "jit/compile/code_object_metadata.h"

namespace nereid::jit {

Result<Resources> read_resources(std::span<const uint8_t> code_object) {
  Result<CodeObjectMetadata> metadata = read_code_object(code_object);
  if (!metadata)
    return nereid_error("the code object is damaged: " + metadata.error().message,
                        "Remove it and compile the kernel again");
  return metadata->kernels.front().resources;
}

} // namespace nereid::jit
