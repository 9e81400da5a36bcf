// nereid quant: bf16 of a file to MXFP4.
#include <fmt/format.h>

#include "kernels/host/shuffle.h"
#include "kernels/mxfp4_quant.h"
#include "tools/command.h"
#include "tools/files.h"
#include "tools/launch_json.h"

namespace nereid::tools {
namespace {

struct QuantOptions {
  int64_t m = 0;
  int64_t k = 0;
  std::string in;
  std::string out_q;
  std::string out_scales;
  std::string path = "hw";
  bool shuffled = false;
};

constexpr const char *quant_footer =
    R"(Files are raw little-endian: --in bf16 [M,K]; --out-q u8 [M,K/2], the even k in the low
nibble; --out-scales u8 [M,K/32], or with --shuffled ceil(M/256)*256 x ceil(K/32/8)*8 bytes whose padding is 127.

Example:
  nereid quant --m 16 --k 512 --in a.bin --out-q q.bin --out-scales s.bin --path sw)";

Status save(const Buffer<uint8_t> &buffer, const std::string &path) {
  NEREID_TRY(const std::vector<uint8_t> bytes, buffer.to_host());
  return write_file(path, bytes_of(bytes));
}

Result<kernels::LaunchRecord> quantize(const Device &device, const QuantOptions &options,
                                       const kernels::QuantConfig &config,
                                       const std::vector<uint8_t> &input) {
  const kernels::ProblemSize size{options.m, 0, options.k};
  NEREID_TRY(const Buffer<uint8_t> x, device.upload(input));
  NEREID_TRY(const Buffer<uint8_t> codes, device.allocate<uint8_t>(size.m * size.k / 2));
  NEREID_TRY(Buffer<uint8_t> scales,
             device.allocate<uint8_t>(options.shuffled ? kernels::host::shuffled_scale_bytes(size.m, size.k)
                                                       : size.m * (size.k / 32)));
  NEREID_CHECK(scales.fill(127));

  const Stream stream = device.stream();
  NEREID_TRY(kernels::LaunchRecord record,
             kernels::quant_kernel.launch({stream}, config, size, {x, codes, scales}));
  NEREID_CHECK(stream.synchronize());
  NEREID_CHECK(save(codes, options.out_q));
  NEREID_CHECK(save(scales, options.out_scales));
  return record;
}

Outcome run(const CommonOptions &common, const QuantOptions &options) {
  const kernels::ProblemSize size{options.m, 0, options.k};
  NEREID_CHECK(kernels::check_shape(size, kernels::quantized_rule));
  const kernels::QuantPath path =
      options.path == "hw" ? kernels::QuantPath::Hardware : kernels::QuantPath::Software;
  NEREID_TRY(const kernels::QuantConfig config,
             kernels::quant_kernel.complete({.shuffled = options.shuffled, .path = path}, size));
  NEREID_TRY(const std::vector<uint8_t> input, read_file(options.in, size.m * size.k * 2, "bf16 [M,K]"));
  const NamedFile read[] = {{"--in", options.in}};
  const NamedFile outputs[] = {{"--out-q", options.out_q}, {"--out-scales", options.out_scales}};
  NEREID_CHECK(check_outputs(outputs, read));
  NEREID_TRY(const Device device, chosen_device(common));

  const Result<kernels::LaunchRecord> record = quantize(device, options, config, input);
  if (!record)
    return failed_run(record.error());
  Outcome outcome;
  outcome.json = llvm::json::Object{{"device", llvm::StringRef(device.kind_name()).str()},
                                    {"path", options.path},
                                    {"launches", launches_json({*record})}};
  outcome.text = launch_text(*record) + "\n";
  return outcome;
}

} // namespace

void add_quant(Subcommand app, Invocation &invocation) {
  auto options = std::make_shared<QuantOptions>();
  Subcommand command = add_command(app, invocation, "quant", "Quantise a bf16 matrix to MXFP4",
                                   [&invocation, options] { return run(invocation.common, *options); });
  command.footer(quant_footer);
  add_device_option(command, invocation);
  command.option("--m", options->m, "Rows").required();
  command.option("--k", options->k, "Columns, a multiple of 32").required();
  command.option("--in", options->in, "Input file").required();
  command.option("--out-q", options->out_q, "File for the codes").required();
  command.option("--out-scales", options->out_scales, "File for the scales").required();
  command.flag("--shuffled", options->shuffled, "Scales in shuffled order");
  command.option("--path", options->path, "Rounding: sw, integer arithmetic; hw, the chip's conversion")
      .one_of({"sw", "hw"})
      .shows_default();
}

} // namespace nereid::tools
