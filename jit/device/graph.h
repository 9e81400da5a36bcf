#pragma once

#include <memory>
#include <vector>

#include "base/result.h"

namespace nereid {

class Stream;

namespace jit {
class DeviceInterface;
class GraphState;
} // namespace jit

/// The launches, copies and fills that Stream::capture() recorded, to be queued again with one call. Copies
/// share the graph. Safe to use from several threads.
///
/// A graph has the addresses of its arguments and of host memory in it: buffers and host memory have to
/// outlive it. It keeps kernels alive, and what operations of the library work in.
class Graph {
public:
  /// Makes it ready to be launched; the first launch does so where nobody did.
  Status instantiate() const;

  /// Queues everything on a stream of the device that it was captured on. Errors: a stream of another device
  /// or one that is being captured (User); on the simulator those of the launches.
  Status launch(const Stream &stream) const;

  /// Takes over what `other` does, which costs less than to instantiate `other`: a graph with the same
  /// operations in the same order, whose kernels, grids, arguments and addresses may differ. Launches that
  /// are queued already keep what they had. Error (User): other operations; this graph is as before then.
  Status update(const Graph &other) const;

private:
  friend class Stream;
  struct Content;
  explicit Graph(std::shared_ptr<Content> content) : content_(std::move(content)) {}
  std::shared_ptr<Content> content_;
};

} // namespace nereid
