// Graphs over what a kind of device implements, and the captures that make them.
#include "jit/device/graph.h"

#include <mutex>

#include "jit/device/device_interface.h"

namespace nereid {

/// A device's own form of the graph, and what has to live as long as it is launched.
struct Graph::Content {
  std::shared_ptr<jit::DeviceInterface> device;
  std::shared_ptr<jit::GraphState> state;
  std::mutex mutex;
  std::vector<std::shared_ptr<const void>> kept;
};

namespace jit {

bool StreamState::keep(std::shared_ptr<const void> what) {
  const std::lock_guard lock(mutex_);
  if (keeps_)
    kept_.push_back(std::move(what));
  return keeps_;
}

bool StreamState::start_keeping() {
  const std::lock_guard lock(mutex_);
  return !std::exchange(keeps_, true);
}

std::vector<std::shared_ptr<const void>> StreamState::take_kept() {
  const std::lock_guard lock(mutex_);
  keeps_ = false;
  return std::exchange(kept_, {});
}

namespace {

/// A capture that ends with its owner, whatever happens meanwhile.
class Capture {
public:
  static Result<Capture> begin(DeviceInterface &device, StreamState &stream) {
    NEREID_TRY(const bool capturing, device.is_capturing(&stream));
    if (capturing || !stream.start_keeping())
      return user_error("the stream is being captured already", "End that capture first");
    if (Status begun = device.begin_capture(stream); !begun) {
      stream.take_kept();
      return std::move(begun).error();
    }
    return Capture(device, stream);
  }
  Capture(Capture &&other) noexcept
      : device_(other.device_), stream_(std::exchange(other.stream_, nullptr)) {}
  ~Capture() {
    if (stream_)
      (void)end();
  }

  struct Recorded {
    std::shared_ptr<GraphState> graph;
    std::vector<std::shared_ptr<const void>> kept;
  };
  Result<Recorded> end() {
    StreamState &stream = *std::exchange(stream_, nullptr);
    --device_->captures();
    Result<std::shared_ptr<GraphState>> graph = device_->end_capture(stream);
    std::vector<std::shared_ptr<const void>> kept = stream.take_kept();
    if (!graph)
      return std::move(graph).error();
    return Recorded{*std::move(graph), std::move(kept)};
  }

private:
  Capture(DeviceInterface &device, StreamState &stream) : device_(&device), stream_(&stream) {
    ++device_->captures();
  }
  DeviceInterface *device_;
  StreamState *stream_;
};

} // namespace
} // namespace jit

Result<Graph> Stream::capture(const std::function<Status()> &work) const {
  if (!state_)
    return user_error("the default stream cannot be captured", "Capture a stream of Device::new_stream()");
  NEREID_TRY(jit::Capture capture, jit::Capture::begin(*device_, *state_));
  NEREID_CHECK(work());
  NEREID_TRY(auto recorded, capture.end());
  auto content = std::make_shared<Graph::Content>();
  content->device = device_;
  content->state = std::move(recorded.graph);
  content->kept = std::move(recorded.kept);
  return Graph(std::move(content));
}

Status Graph::instantiate() const { return content_->state->instantiate(); }

Status Graph::launch(const Stream &stream) const {
  if (&stream.interface() != content_->device.get())
    return user_error("a graph of one device was launched on a stream of another",
                      "Launch it on a stream of the device that it was captured on");
  NEREID_TRY(const bool capturing, stream.is_capturing());
  if (capturing)
    return user_error("a graph was launched on a stream that is being captured",
                      "Capture what the graph does, or launch it after the capture");
  return content_->state->launch(stream.state());
}

Status Graph::update(const Graph &other) const {
  if (content_ == other.content_)
    return {};
  if (content_->device != other.content_->device)
    return user_error("a graph was to be updated with one of another device",
                      "Capture both on streams of one device");
  NEREID_CHECK(content_->state->update(*other.content_->state));
  const std::scoped_lock lock(content_->mutex, other.content_->mutex);
  content_->kept = other.content_->kept;
  return {};
}

} // namespace nereid
