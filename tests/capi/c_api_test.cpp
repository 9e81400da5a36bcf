// The C API as a program sees it: handles, errors, operations, code objects.
#include <nereid/c_api.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/host/gemm.h"
#include "kernels/host/problem.h"
#include "kernels/host/quantize.h"
#include "kernels/host/shuffle.h"

namespace {

namespace host = nereid::kernels::host;

#define EXPECT_OK(call) EXPECT_EQ(call, NEREID_OK) << nereid_last_error()->message
#define ASSERT_OK(call) ASSERT_EQ(call, NEREID_OK) << nereid_last_error()->message

/// The call fails with the status, and the last error says so.
#define EXPECT_FAILS(call, status, expected)                                                                 \
  do {                                                                                                       \
    EXPECT_EQ(call, status);                                                                                 \
    EXPECT_EQ(nereid_last_error()->owner, status);                                                           \
    EXPECT_NE(std::string(nereid_last_error()->message).find(expected), std::string::npos)                   \
        << nereid_last_error()->message;                                                                     \
  } while (false)

class CApi : public testing::Test {
protected:
  void SetUp() override { ASSERT_OK(nereid_device_open("sim", 0, &device)); }
  void TearDown() override {
    for (nereid_buffer *buffer : buffers_)
      nereid_buffer_destroy(buffer);
    nereid_device_close(device);
  }

  nereid_buffer *allocate(size_t bytes) {
    nereid_buffer *buffer = nullptr;
    EXPECT_OK(nereid_buffer_create(device, bytes, &buffer));
    return buffers_.emplace_back(buffer);
  }
  template <class T> nereid_memory upload(const std::vector<T> &data) {
    nereid_buffer *buffer = allocate(data.size() * sizeof(T));
    EXPECT_OK(nereid_buffer_write(buffer, 0, data.data(), data.size() * sizeof(T)));
    return nereid_buffer_memory(buffer);
  }
  /// Of the buffer that was made last.
  template <class T> std::vector<T> download(size_t count) {
    std::vector<T> data(count);
    EXPECT_OK(nereid_buffer_read(buffers_.back(), 0, data.data(), count * sizeof(T)));
    return data;
  }

  nereid_device *device = nullptr;

private:
  std::vector<nereid_buffer *> buffers_;
};

TEST(CApiVersion, IsThatOfTheHeader) {
  EXPECT_EQ(nereid_c_api_version(), NEREID_C_API_VERSION);
  EXPECT_STREQ(nereid_version(), NEREID_VERSION);
}

TEST(CApiErrors, OfAThreadWithoutOneAreEmpty) {
  std::thread([] {
    const nereid_error_info *error = nereid_last_error();
    EXPECT_EQ(error->owner, NEREID_OK);
    EXPECT_STREQ(error->message, "");
    EXPECT_STREQ(error->remedy, "");
    EXPECT_STREQ(error->where, "");
  }).join();
}

TEST(CApiErrors, BelongToTheirThread) {
  nereid_device *device = nullptr;
  EXPECT_FAILS(nereid_device_open("cuda", 0, &device), NEREID_USER_ERROR, "unknown device 'cuda'");
  EXPECT_STRNE(nereid_last_error()->remedy, "");
  std::thread([] { EXPECT_STREQ(nereid_last_error()->message, ""); }).join();
  EXPECT_EQ(device, nullptr) << "an output of a failed call is left alone";
}

TEST(CApiErrors, OwnersHaveNames) {
  EXPECT_STREQ(nereid_owner_name(NEREID_USER_ERROR), "user");
  EXPECT_STREQ(nereid_owner_name(NEREID_NEREID_ERROR), "nereid");
  EXPECT_STREQ(nereid_owner_name(NEREID_DEVICE_ERROR), "device");
  EXPECT_STREQ(nereid_owner_name(NEREID_ENVIRONMENT_ERROR), "environment");
  EXPECT_STREQ(nereid_owner_name(NEREID_OK), "");
  EXPECT_STREQ(nereid_owner_name(77), "");
}

TEST_F(CApi, DevicesAndStreams) {
  EXPECT_STREQ(nereid_device_name(device), "gfx950 simulator");
  EXPECT_EQ(nereid_device_is_simulator(device), 1);
  EXPECT_OK(nereid_device_synchronize(device));
  nereid_stream *stream = nullptr, *wrapped = nullptr;
  ASSERT_OK(nereid_stream_create(device, &stream));
  ASSERT_OK(nereid_stream_wrap(device, &stream, &wrapped));
  EXPECT_OK(nereid_stream_synchronize(stream));
  EXPECT_OK(nereid_stream_synchronize(wrapped));
  nereid_stream_destroy(stream);
  nereid_stream_destroy(wrapped);
  nereid_device *other = nullptr;
  EXPECT_FAILS(nereid_device_open("sim", 1, &other), NEREID_USER_ERROR, "has no number 1");
}

TEST_F(CApi, BuffersCopyAndRefuseWhatDoesNotFit) {
  nereid_buffer *buffer = allocate(8);
  EXPECT_EQ(nereid_buffer_memory(buffer).bytes, 8u);
  EXPECT_OK(nereid_buffer_fill(buffer, 7));
  EXPECT_OK(nereid_buffer_write(buffer, 2, "ab", 2));
  EXPECT_EQ(download<char>(8), (std::vector<char>{7, 7, 'a', 'b', 7, 7, 7, 7}));
  EXPECT_OK(nereid_buffer_write(buffer, 8, nullptr, 0));
  EXPECT_FAILS(nereid_buffer_write(buffer, 7, "ab", 2), NEREID_USER_ERROR, "exceeds a buffer of 8");
  EXPECT_FAILS(nereid_buffer_write(buffer, UINT64_MAX, "ab", 2), NEREID_USER_ERROR, "exceeds");
  EXPECT_FAILS(nereid_buffer_write(buffer, 0, nullptr, 2), NEREID_USER_ERROR, "'from' is NULL");
  nereid_buffer *large = nullptr;
  EXPECT_NE(nereid_buffer_create(device, uint64_t{1} << 60, &large), NEREID_OK);
  EXPECT_EQ(large, nullptr);
}

TEST_F(CApi, NullIsAnErrorAndMayBeDestroyed) {
  nereid_device_close(nullptr);
  nereid_stream_destroy(nullptr);
  nereid_buffer_destroy(nullptr);
  nereid_mxfp4_linear_destroy(nullptr);
  nereid_module_unload(nullptr);
  nereid_kernel_destroy(nullptr);
  EXPECT_STREQ(nereid_device_name(nullptr), "");
  EXPECT_EQ(nereid_buffer_memory(nullptr).address, 0u);
  EXPECT_EQ(nereid_module_kernel_count(nullptr), 0u);
  EXPECT_EQ(nereid_module_kernel_name(nullptr, 0), nullptr);
  nereid_buffer *buffer = nullptr;
  nereid_module *module = nullptr;
  nereid_kernel *kernel = nullptr;
  const nereid_launch_shape shape = {{1, 1, 1}, {1, 1, 1}, 0};
  EXPECT_FAILS(nereid_device_open(nullptr, 0, &device), NEREID_USER_ERROR, "'name' is NULL");
  EXPECT_FAILS(nereid_device_open("sim", 0, nullptr), NEREID_USER_ERROR, "'device' is NULL");
  EXPECT_FAILS(nereid_device_synchronize(nullptr), NEREID_USER_ERROR, "'device' is NULL");
  EXPECT_FAILS(nereid_stream_synchronize(nullptr), NEREID_USER_ERROR, "'stream' is NULL");
  EXPECT_FAILS(nereid_buffer_create(nullptr, 1, &buffer), NEREID_USER_ERROR, "'device' is NULL");
  EXPECT_FAILS(nereid_buffer_read(nullptr, 0, &buffer, 1), NEREID_USER_ERROR, "'buffer' is NULL");
  EXPECT_FAILS(nereid_mxfp4_linear_create(device, nullptr), NEREID_USER_ERROR, "'linear' is NULL");
  EXPECT_FAILS(nereid_mxfp4_linear_run(nullptr, nullptr, 1, 16, 32, 0, nullptr), NEREID_USER_ERROR, "NULL");
  EXPECT_FAILS(nereid_mxfp4_linear_trim(nullptr), NEREID_USER_ERROR, "'linear' is NULL");
  EXPECT_FAILS(nereid_module_load(device, nullptr, 8, &module), NEREID_USER_ERROR, "'code_object' is NULL");
  EXPECT_FAILS(nereid_module_load_file(device, nullptr, &module), NEREID_USER_ERROR, "'path' is NULL");
  EXPECT_FAILS(nereid_module_kernel(nullptr, nullptr, &kernel), NEREID_USER_ERROR, "'module' is NULL");
  EXPECT_FAILS(nereid_kernel_launch(nullptr, nullptr, &shape, nullptr, 0), NEREID_USER_ERROR, "NULL");
  EXPECT_FAILS(nereid_kernel_launch_raw(nullptr, nullptr, &shape, nullptr, 0), NEREID_USER_ERROR, "NULL");
  EXPECT_FAILS(nereid_kernel_get_info(nullptr, nullptr), NEREID_USER_ERROR, "'kernel' is NULL");
}

TEST_F(CApi, QuantisesAsTheReference) {
  const int64_t m = 20, k = 96;
  const host::Operands operands = host::random_operands(m, 16, k, 3);
  const nereid_memory x = upload(operands.a);
  const nereid_memory scales = nereid_buffer_memory(allocate(m * k / 32));
  const nereid_memory codes = nereid_buffer_memory(allocate(m * k / 2));
  ASSERT_OK(nereid_mxfp4_quant(device, nullptr, m, k, 0, x, codes, scales));
  const host::MxMatrix expected = host::quantize_even(operands.a, m, k);
  EXPECT_EQ(download<uint8_t>(m * k / 2), expected.codes);
  EXPECT_FAILS(nereid_mxfp4_quant(device, nullptr, m, 33, 0, x, codes, scales), NEREID_USER_ERROR,
               "K = 33 is not a multiple of 32");
  EXPECT_FAILS(nereid_mxfp4_quant(device, nullptr, 21, k, 0, x, codes, scales), NEREID_USER_ERROR,
               "operand x has");
}

TEST_F(CApi, QuantisesOnNoStreamOfAnotherDevice) {
  const int64_t m = 4, k = 32;
  const nereid_memory x = upload(std::vector<uint16_t>(m * k));
  const nereid_memory scales = nereid_buffer_memory(allocate(m * k / 32));
  const std::vector<uint8_t> before(m * k / 2, 0xa5);
  const nereid_memory codes = upload(before);
  nereid_device *other = nullptr;
  nereid_stream *stream = nullptr;
  ASSERT_OK(nereid_device_open("sim", 0, &other));
  ASSERT_OK(nereid_stream_create(other, &stream));
  EXPECT_FAILS(nereid_mxfp4_quant(device, stream, m, k, 0, x, codes, scales), NEREID_USER_ERROR,
               "the stream is of another device");
  EXPECT_EQ(download<uint8_t>(before.size()), before);
  nereid_stream_destroy(stream);
  nereid_device_close(other);
}

TEST_F(CApi, MultipliesOnEachPath) {
  const int64_t m = 20, n = 48, k = 96;
  const host::Operands operands = host::random_operands(m, n, k, 5);
  nereid_mxfp4_linear_operands memory = {
      upload(operands.a), upload(operands.b), upload(operands.b_scales), {}};
  nereid_mxfp4_linear *linear = nullptr;
  ASSERT_OK(nereid_mxfp4_linear_create(device, &linear));
  for (nereid_mxfp4_path path = NEREID_MXFP4_AUTO; path <= NEREID_MXFP4_STAGED; ++path) {
    memory.c = nereid_buffer_memory(allocate(m * n * 2));
    EXPECT_OK(nereid_mxfp4_linear_prepare(linear, nullptr, m, n, k, path, &memory));
    ASSERT_OK(nereid_mxfp4_linear_run(linear, nullptr, m, n, k, path, &memory));
    const auto compared =
        host::check_product(m, n, k, operands.a, operands.b, operands.b_scales, download<uint16_t>(m * n));
    ASSERT_TRUE(compared.ok()) << compared.error().text();
    EXPECT_TRUE(compared->passed()) << path;
  }
  EXPECT_OK(nereid_mxfp4_linear_trim(linear));
  for (const nereid_mxfp4_path path : {-1, 5})
    EXPECT_FAILS(nereid_mxfp4_linear_run(linear, nullptr, m, n, k, path, &memory), NEREID_USER_ERROR,
                 "there is no path " + std::to_string(path));
  EXPECT_FAILS(nereid_mxfp4_linear_run(linear, nullptr, m, 17, k, 0, &memory), NEREID_USER_ERROR, "N = 17");
  memory.b.bytes -= 1;
  EXPECT_FAILS(nereid_mxfp4_linear_run(linear, nullptr, m, n, k, 0, &memory), NEREID_USER_ERROR,
               "operand b has");
  nereid_mxfp4_linear_destroy(linear);
}

TEST_F(CApi, ShufflesAsTheReference) {
  const int64_t n = 48, k = 96;
  std::vector<uint8_t> codes(n * k / 2), scales(n * k / 32);
  for (size_t i = 0; i < codes.size(); ++i)
    codes[i] = static_cast<uint8_t>(i * 31);
  for (size_t i = 0; i < scales.size(); ++i)
    scales[i] = static_cast<uint8_t>(i * 7);
  std::vector<uint8_t> b(nereid_mxfp4_shuffled_b_bytes(n, k)), s(nereid_mxfp4_shuffled_scale_bytes(n, k));
  ASSERT_OK(nereid_mxfp4_shuffle_b(n, k, codes.data(), b.data()));
  ASSERT_OK(nereid_mxfp4_shuffle_scales(n, k, scales.data(), s.data()));
  EXPECT_EQ(b, host::shuffle_b(codes, n, k).value());
  EXPECT_EQ(s, host::shuffle_scales(scales, n, k).value());
  EXPECT_FAILS(nereid_mxfp4_shuffle_b(17, k, codes.data(), b.data()), NEREID_USER_ERROR, "");
  EXPECT_FAILS(nereid_mxfp4_shuffle_b(-16, k, codes.data(), b.data()), NEREID_USER_ERROR,
               "a matrix of -16 x 96");
  EXPECT_FAILS(nereid_mxfp4_shuffle_b(INT64_MAX, k, codes.data(), b.data()), NEREID_USER_ERROR,
               "a matrix of");
  EXPECT_EQ(nereid_mxfp4_shuffled_b_bytes(-16, 32), 0u);
  EXPECT_EQ(nereid_mxfp4_shuffled_scale_bytes(INT64_MAX, INT64_MAX), 0u);
}

std::vector<char> saxpy_object() {
  std::ifstream file(NEREID_SAXPY_OBJECT, std::ios::binary);
  return std::vector<char>(std::istreambuf_iterator<char>(file), {});
}

TEST_F(CApi, LaunchesKernelsOfCodeObjects) {
  const std::vector<char> object = saxpy_object();
  nereid_module *module = nullptr, *same = nullptr;
  ASSERT_OK(nereid_module_load(device, object.data(), object.size(), &module));
  ASSERT_OK(nereid_module_load_file(device, NEREID_SAXPY_OBJECT, &same));
  nereid_module_unload(same);
  EXPECT_EQ(nereid_module_kernel_count(module), 1u);
  EXPECT_STREQ(nereid_module_kernel_name(module, 0), "saxpy");
  EXPECT_EQ(nereid_module_kernel_name(module, 1), nullptr);
  nereid_kernel *kernel = nullptr;
  EXPECT_FAILS(nereid_module_kernel(module, "axpy", &kernel), NEREID_USER_ERROR, "no kernel 'axpy'");
  ASSERT_OK(nereid_module_kernel(module, nullptr, &kernel));
  nereid_module_unload(module);

  nereid_kernel_info info = {};
  EXPECT_FAILS(nereid_kernel_get_info(kernel, &info), NEREID_USER_ERROR, "struct_size is 0");
  info.struct_size = sizeof info;
  ASSERT_OK(nereid_kernel_get_info(kernel, &info));
  EXPECT_EQ(info.vgprs, 4u);
  EXPECT_EQ(info.kernarg_size, 24u);
  EXPECT_EQ(info.argument_count, 4u);
  EXPECT_EQ(info.max_workgroup_size, 256u);

  const nereid_memory x = upload(std::vector<float>(300, 2.0F));
  const nereid_memory y = upload(std::vector<float>(300, 1.0F));
  const float a = 3;
  const int32_t n = 299;
  const nereid_argument arguments[] = {nereid_memory_argument(x), nereid_memory_argument(y),
                                       nereid_value_argument(&a, sizeof a),
                                       nereid_value_argument(&n, sizeof n)};
  const nereid_launch_shape shape = {{2, 1, 1}, {256, 1, 1}, 0};
  ASSERT_OK(nereid_kernel_launch(kernel, nullptr, &shape, arguments, 4));
  EXPECT_EQ(download<float>(300)[298], 7.0F);
  EXPECT_EQ(download<float>(300)[299], 1.0F);
  EXPECT_FAILS(nereid_kernel_launch(kernel, nullptr, &shape, arguments, 3), NEREID_USER_ERROR,
               "it takes 4 arguments, the launch gives 3");

  const struct {
    uint64_t x, y;
    float a;
    int32_t n;
  } block = {x.address, y.address, -3, 299};
  ASSERT_OK(nereid_kernel_launch_raw(kernel, nullptr, &shape, &block, sizeof block));
  EXPECT_EQ(download<float>(300)[298], 1.0F);
  const nereid_launch_shape large = {{1, 1, 1}, {512, 1, 1}, 0};
  EXPECT_FAILS(nereid_kernel_launch_raw(kernel, nullptr, &large, &block, sizeof block), NEREID_USER_ERROR,
               "at most 256");
  nereid_kernel_destroy(kernel);
}

TEST_F(CApi, AFaultOfAKernelIsAnError) {
  nereid_module *module = nullptr;
  nereid_kernel *kernel = nullptr;
  ASSERT_OK(nereid_module_load_file(device, NEREID_SAXPY_OBJECT, &module));
  ASSERT_OK(nereid_module_kernel(module, "saxpy", &kernel));
  const struct {
    uint64_t x, y;
    float a;
    int32_t n;
  } block = {64, 64, 1, 1};
  const nereid_launch_shape shape = {{1, 1, 1}, {256, 1, 1}, 0};
  EXPECT_FAILS(nereid_kernel_launch_raw(kernel, nullptr, &shape, &block, sizeof block), NEREID_USER_ERROR,
               "out_of_bounds");
  EXPECT_OK(nereid_device_synchronize(device));
  nereid_kernel_destroy(kernel);
  nereid_module_unload(module);
}

TEST_F(CApi, HandlesOutliveWhatTheyWereMadeFrom) {
  nereid_buffer *buffer = nullptr;
  nereid_device *own = nullptr;
  ASSERT_OK(nereid_device_open("sim", 0, &own));
  ASSERT_OK(nereid_buffer_create(own, 16, &buffer));
  nereid_device_close(own);
  EXPECT_OK(nereid_buffer_fill(buffer, 1));
  nereid_buffer_destroy(buffer);
}

} // namespace
