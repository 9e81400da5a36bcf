// Captures of a stream, and the graphs that they give.
#include <stdexcept>

#include "tests/jit/each_device.h"
#include "tests/jit/sample_kernels.h"

namespace nereid::test {
namespace {

/// z = x + y over 1000 elements.
struct Sum {
  static constexpr int n = 1000;
  AddConfig config{.block = 512};
  Kernel<add> kernel;
  Buffer<float> x, y, z;

  explicit Sum(const Device &device, float first = 1.0F)
      : x(device.upload(std::vector<float>(n, first)).value()),
        y(device.upload(std::vector<float>(n, 0.5F)).value()), z(device.allocate<float>(n).value()) {
    EXPECT_TRUE(z.fill(-1.0F));
  }
  Status launch(const Stream &stream, const LaunchOptions &options = {}) {
    NEREID_CHECK(kernel.launch(options, stream, {programs(n, config)}, config, x, y, z, n));
    return {};
  }
  Status prepare(const Stream &stream) { return launch(stream, {.prepare = true}); }
  std::vector<float> sum() const { return z.to_host().value(); }
};

std::vector<float> all(float value) { return std::vector<float>(Sum::n, value); }

class GraphOn : public EachDevice {};

TEST_P(GraphOn, DoesNothingUntilItIsLaunchedAndThenEverythingInOrder) {
  Sum sum(device());
  ASSERT_TRUE(sum.prepare(stream()));
  const std::vector<float> source = all(3.0F);
  std::vector<float> target = all(0.0F);
  Buffer<float> copy = device().allocate<float>(Sum::n).value();
  const auto graph = stream().capture([&]() -> Status {
    NEREID_CHECK(sum.x.copy_from_host_async(stream(), source));
    NEREID_CHECK(sum.y.fill_async(stream(), 0.25F));
    NEREID_CHECK(sum.launch(stream()));
    NEREID_CHECK(copy.copy_from_async(stream(), sum.z, Sum::n));
    return copy.copy_to_host_async(stream(), target);
  });
  ASSERT_TRUE(graph) << graph.error().text();
  ASSERT_TRUE(stream().synchronize());
  EXPECT_EQ(sum.sum(), all(-1.0F));
  for (int replay = 0; replay < 2; ++replay) {
    std::fill(target.begin(), target.end(), 0.0F);
    ASSERT_TRUE(sum.y.fill(9.0F));
    ASSERT_TRUE(graph->launch(stream()));
    ASSERT_TRUE(stream().synchronize());
    EXPECT_EQ(sum.sum(), all(3.25F));
    EXPECT_EQ(target, all(3.25F));
  }
}

TEST_P(GraphOn, RunsOnAnyStreamOfItsDevice) {
  Sum sum(device());
  ASSERT_TRUE(sum.prepare(stream()));
  const Graph graph = stream().capture([&] { return sum.launch(stream()); }).value();
  ASSERT_TRUE(graph.instantiate());
  for (const Stream &other : {device().stream(), device().new_stream().value()}) {
    ASSERT_TRUE(sum.z.fill(-1.0F));
    ASSERT_TRUE(graph.launch(other));
    ASSERT_TRUE(other.synchronize());
    EXPECT_EQ(sum.sum(), all(1.5F));
  }
  const Device elsewhere = Device::simulator();
  EXPECT_USER_ERROR(graph.launch(elsewhere.stream()), "on a stream of another");
}

TEST_P(GraphOn, IsUpdatedToOtherBuffers) {
  Sum first(device(), 1.0F), second(device(), 2.0F);
  ASSERT_TRUE(first.prepare(stream()));
  const Graph graph = stream().capture([&] { return first.launch(stream()); }).value();
  const Graph other = stream().capture([&] { return second.launch(stream()); }).value();
  ASSERT_TRUE(graph.launch(stream()));
  ASSERT_TRUE(graph.update(other));
  ASSERT_TRUE(stream().synchronize());
  EXPECT_EQ(second.sum(), all(-1.0F));
  ASSERT_TRUE(first.z.fill(-1.0F));
  ASSERT_TRUE(graph.launch(stream()));
  ASSERT_TRUE(stream().synchronize());
  EXPECT_EQ(first.sum(), all(-1.0F));
  EXPECT_EQ(second.sum(), all(2.5F));
  // The graph that it was updated with is as it was.
  ASSERT_TRUE(second.z.fill(-1.0F));
  ASSERT_TRUE(other.launch(stream()));
  ASSERT_TRUE(stream().synchronize());
  EXPECT_EQ(second.sum(), all(2.5F));
}

TEST_P(GraphOn, RefusesAnUpdateWithOtherOperationsAndStaysAsItWas) {
  Sum sum(device());
  ASSERT_TRUE(sum.prepare(stream()));
  const Graph graph = stream().capture([&] { return sum.launch(stream()); }).value();
  const Graph other = stream()
                          .capture([&]() -> Status {
                            NEREID_CHECK(sum.launch(stream()));
                            return sum.x.fill_async(stream(), 7.0F);
                          })
                          .value();
  EXPECT_USER_ERROR(graph.update(other), "graph");
  ASSERT_TRUE(graph.launch(stream()));
  ASSERT_TRUE(stream().synchronize());
  EXPECT_EQ(sum.sum(), all(1.5F));
  EXPECT_EQ(sum.x.to_host().value(), all(1.0F));
}

TEST_P(GraphOn, KeepsWhatItIsGiven) {
  auto held = std::make_shared<int>(1);
  EXPECT_FALSE(stream().keep(held));
  std::optional<Graph> graph = stream()
                                   .capture([&]() -> Status {
                                     EXPECT_TRUE(stream().keep(held));
                                     return {};
                                   })
                                   .value();
  EXPECT_EQ(held.use_count(), 2);
  const Graph other = stream().capture([]() -> Status { return {}; }).value();
  ASSERT_TRUE(graph->update(other));
  EXPECT_EQ(held.use_count(), 1);
  graph.reset();
}

class CaptureOn : public EachDevice {};

TEST_P(CaptureOn, OfTheDefaultStreamOrInsideAnotherIsRefused) {
  const auto nothing = []() -> Status { return {}; };
  EXPECT_USER_ERROR(device().stream().capture(nothing), "default stream");
  Status inner;
  ASSERT_TRUE(stream().capture([&]() -> Status {
    const Result<Graph> nested = stream().capture(nothing);
    inner = nested ? Status() : Status(nested.error());
    return {};
  }));
  EXPECT_USER_ERROR(inner, "captured already");
}

TEST_P(CaptureOn, RefusesWhatCannotBeRecordedAndGoesOn) {
  Sum sum(device());
  ASSERT_TRUE(sum.prepare(stream()));
  const Graph earlier = stream().capture([&] { return sum.launch(stream()); }).value();
  const Event event = stream().record().value();
  std::vector<Status> refused;
  const auto status_of = [](const auto &result) { return result ? Status() : Status(result.error()); };
  const auto graph = stream().capture([&]() -> Status {
    EXPECT_TRUE(stream().is_capturing().value());
    refused.push_back(stream().synchronize());
    refused.push_back(device().synchronize());
    refused.push_back(status_of(stream().record()));
    refused.push_back(stream().wait(event));
    refused.push_back(status_of(stream().allocate<float>(1)));
    refused.push_back(earlier.launch(stream()));
    return sum.launch(stream());
  });
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_FALSE(stream().is_capturing().value());
  for (const Status &status : refused)
    EXPECT_USER_ERROR(status, "captured");
  ASSERT_TRUE(graph->launch(stream()));
  ASSERT_TRUE(stream().synchronize());
  EXPECT_EQ(sum.sum(), all(1.5F));
}

TEST_P(CaptureOn, BuildsNoKernel) {
  Sum sum(device());
  sum.config.block = 64; // of no other test
  const auto graph = stream().capture([&] { return sum.launch(stream()); });
  EXPECT_USER_ERROR(graph, "kernel 'add' is not built for this config and these arguments");
  EXPECT_USER_ERROR(stream().capture([&] { return sum.prepare(stream()); }), "not built");
  const LaunchInfo prepared =
      sum.kernel.launch({.prepare = true}, stream(), {1}, sum.config, sum.x, sum.y, sum.z, Sum::n).value();
  EXPECT_NE(prepared.cache, CacheLevel::Memory) << "an earlier launch built it";
  ASSERT_TRUE(stream().synchronize());
  EXPECT_EQ(sum.sum(), all(-1.0F)) << "what is prepared is not launched";
  EXPECT_TRUE(stream().capture([&] { return sum.launch(stream()); }));
}

TEST_P(CaptureOn, EndsWithAnErrorOrAnExceptionOfTheWork) {
  Sum sum(device());
  ASSERT_TRUE(sum.prepare(stream()));
  const auto failed = stream().capture([&]() -> Status {
    NEREID_CHECK(sum.launch(stream()));
    return user_error("enough");
  });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "enough");
  EXPECT_THROW((void)stream().capture([]() -> Status { throw std::runtime_error("thrown"); }),
               std::runtime_error);
  EXPECT_FALSE(stream().is_capturing().value());
  ASSERT_TRUE(sum.launch(stream()));
  ASSERT_TRUE(stream().synchronize());
  EXPECT_EQ(sum.sum(), all(1.5F));
}

TEST_P(CaptureOn, IsNoPlaceToTune) {
  Sum sum(device());
  TuneRequest request{.kernel = "add", .key = "n=1000"};
  request.candidates.push_back(candidate(sum.kernel, stream(), {programs(Sum::n, sum.config)}, sum.config,
                                         sum.x, sum.y, sum.z, Sum::n));
  const auto graph = stream().capture([&]() -> Status {
    NEREID_CHECK(tune(request, stream()));
    return {};
  });
  EXPECT_USER_ERROR(graph, "tuning 'add' on a stream that is being captured");
}

NEREID_ON_EACH_DEVICE(GraphOn);
NEREID_ON_EACH_DEVICE(CaptureOn);

TEST(Graph, RecordsWhatIsInterpreted) {
  const Device device = Device::simulator();
  const Stream stream = device.new_stream().value();
  Sum sum(device);
  const LaunchOptions interpret{.interpret = true};
  ASSERT_TRUE(sum.launch(stream, {.interpret = true, .prepare = true}));
  const Graph graph = stream.capture([&] { return sum.launch(stream, interpret); }).value();
  EXPECT_EQ(sum.sum(), all(-1.0F));
  ASSERT_TRUE(graph.launch(stream));
  EXPECT_EQ(sum.sum(), all(1.5F));
}

TEST(Graph, ReportsTheFaultsOfItsLaunches) {
  const Device device = Device::simulator();
  const Stream stream = device.new_stream().value();
  const Kernel kernel("copy_unmasked", copy_unmasked);
  const AddConfig config{.block = 256};
  const Buffer<float> x = device.upload(std::vector<float>(256, 1.0F)).value();
  const Buffer<float> z = device.allocate<float>(256).value();
  ASSERT_TRUE(kernel.launch({.prepare = true}, stream, {2}, config, x, z));
  const Graph graph = stream
                          .capture([&]() -> Status {
                            NEREID_CHECK(kernel(stream, {2}, config, x, z));
                            return {};
                          })
                          .value();
  const Status faulted = graph.launch(stream);
  ASSERT_FALSE(faulted);
  EXPECT_EQ(faulted.error().owner, Owner::User);
  EXPECT_NE(faulted.error().message.find("kernel 'copy_unmasked': out_of_bounds"), std::string::npos);
}

} // namespace
} // namespace nereid::test
