#include "sim/shadow/propagation.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "sim/decode/program.h"
#include "sim/state/wave.h"

namespace nereid::sim {

namespace {

using Kind = Flow::Kind;
using Elements = Flow::Elements;

/// What a mnemonic's flow is when it is not arithmetic on whole registers.
struct Rule {
  std::string_view name;
  Kind kind;
  uint8_t control = 0;
  uint8_t table = 0;
};

/// Truth tables: bit 4a + 2b + c. Functions of two operands do not look at c, those of one only at a.
constexpr uint8_t a = 0xF0, b = 0xCC, c = 0xAA;
constexpr uint8_t inverse(unsigned table) { return static_cast<uint8_t>(~table); }

constexpr Rule rules[] = {
    {"v_mov_b32", Kind::VectorMove},
    {"v_mov_b64", Kind::VectorMove},
    {"v_pk_mov_b32", Kind::VectorMove},
    {"v_bfrev_b32", Kind::VectorMove},
    {"v_swap_b32", Kind::VectorMove},
    {"v_permlane16_swap_b32", Kind::VectorMove},
    {"v_permlane32_swap_b32", Kind::VectorMove},
    {"v_accvgpr_read_b32", Kind::VectorMove},
    {"v_accvgpr_write_b32", Kind::VectorMove},
    {"v_accvgpr_mov_b32", Kind::VectorMove},
    {"v_readlane_b32", Kind::VectorMove, 2},
    {"v_readfirstlane_b32", Kind::VectorMove},
    {"v_writelane_b32", Kind::VectorMove, 2},
    {"v_lshlrev_b32", Kind::VectorMove, 1},
    {"v_lshrrev_b32", Kind::VectorMove, 1},
    {"v_ashrrev_i32", Kind::VectorMove, 1},
    {"v_lshlrev_b64", Kind::VectorMove, 1},
    {"v_lshrrev_b64", Kind::VectorMove, 1},
    {"v_ashrrev_i64", Kind::VectorMove, 1},
    {"v_lshlrev_b16", Kind::VectorMove, 1},
    {"v_lshrrev_b16", Kind::VectorMove, 1},
    {"v_ashrrev_i16", Kind::VectorMove, 1},
    {"v_pk_lshlrev_b16", Kind::VectorMove, 1},
    {"v_pk_lshrrev_b16", Kind::VectorMove, 1},
    {"v_pk_ashrrev_i16", Kind::VectorMove, 1},
    {"v_bfe_u32", Kind::VectorMove, 6},
    {"v_bfe_i32", Kind::VectorMove, 6},
    {"v_alignbit_b32", Kind::VectorMove, 4},
    {"v_alignbyte_b32", Kind::VectorMove, 4},
    {"v_perm_b32", Kind::VectorMove, 4},
    {"v_cndmask_b32", Kind::VectorMove, 4},
    {"v_pack_b32_f16", Kind::VectorMove},
    {"ds_bpermute_b32", Kind::VectorMove},
    {"ds_permute_b32", Kind::VectorMove},
    {"ds_swizzle_b32", Kind::VectorMove},

    {"v_and_b32", Kind::VectorLogic, 0, a & b},
    {"v_or_b32", Kind::VectorLogic, 0, a | b},
    {"v_xor_b32", Kind::VectorLogic, 0, a ^ b},
    {"v_xnor_b32", Kind::VectorLogic, 0, inverse(a ^ b)},
    {"v_not_b32", Kind::VectorLogic, 0, inverse(a)},
    {"v_bfi_b32", Kind::VectorLogic, 0, (a & b) | (inverse(a) & c)},
    {"v_and_or_b32", Kind::VectorLogic, 0, (a & b) | c},
    {"v_or3_b32", Kind::VectorLogic, 0, a | b | c},
    {"v_lshl_or_b32", Kind::VectorLogic, 2, a | c},
    {"v_bitop3_b32", Kind::VectorLogic},
    {"v_bitop3_b16", Kind::VectorLogic},

    {"s_mov_b32", Kind::ScalarMove},
    {"s_mov_b64", Kind::ScalarMove},
    {"s_cmov_b32", Kind::ScalarMove},
    {"s_cmov_b64", Kind::ScalarMove},
    {"s_cmovk_i32", Kind::ScalarMove},
    {"s_cselect_b32", Kind::ScalarMove},
    {"s_cselect_b64", Kind::ScalarMove},
    {"s_brev_b32", Kind::ScalarMove},
    {"s_brev_b64", Kind::ScalarMove},
    {"s_lshl_b32", Kind::ScalarMove, 2},
    {"s_lshl_b64", Kind::ScalarMove, 2},
    {"s_lshr_b32", Kind::ScalarMove, 2},
    {"s_lshr_b64", Kind::ScalarMove, 2},
    {"s_ashr_i32", Kind::ScalarMove, 2},
    {"s_ashr_i64", Kind::ScalarMove, 2},
    {"s_bfe_u32", Kind::ScalarMove, 2},
    {"s_bfe_i32", Kind::ScalarMove, 2},
    {"s_bfe_u64", Kind::ScalarMove, 2},
    {"s_bfe_i64", Kind::ScalarMove, 2},
    {"s_sext_i32_i8", Kind::ScalarMove},
    {"s_sext_i32_i16", Kind::ScalarMove},
    {"s_pack_ll_b32_b16", Kind::ScalarMove},
    {"s_pack_lh_b32_b16", Kind::ScalarMove},
    {"s_pack_hh_b32_b16", Kind::ScalarMove},
    {"s_bitreplicate_b64_b32", Kind::ScalarMove},
    {"s_bitset0_b32", Kind::ScalarMove, 1},
    {"s_bitset0_b64", Kind::ScalarMove, 1},
    {"s_bitset1_b32", Kind::ScalarMove, 1},
    {"s_bitset1_b64", Kind::ScalarMove, 1},

    {"s_set_gpr_idx_on", Kind::ScalarMove},
    {"s_set_gpr_idx_idx", Kind::ScalarMove},
    {"s_set_gpr_idx_mode", Kind::ScalarMove},

    {"s_bitcmp0_b32", Kind::BitTest, 2},
    {"s_bitcmp0_b64", Kind::BitTest, 2},
    {"s_bitcmp1_b32", Kind::BitTest, 2},
    {"s_bitcmp1_b64", Kind::BitTest, 2},

    {"s_setpc_b64", Kind::Branch},
    {"s_swappc_b64", Kind::Branch},
};

/// Scalar logic: a row for "s_NAME_b32" and "s_NAME_b64", and for "s_NAME_saveexec_b64" and
/// "s_NAME_wrexec_b64", whose second operand is EXEC.
struct ScalarLogic {
  std::string_view name;
  uint8_t table;
};
constexpr ScalarLogic scalar_logic[] = {
    {"and", a & b},           {"or", a | b},
    {"xor", a ^ b},           {"andn2", a & inverse(b)},
    {"orn2", a | inverse(b)}, {"nand", inverse(a & b)},
    {"nor", inverse(a | b)},  {"xnor", inverse(a ^ b)},
    {"not", inverse(a)},      {"andn1", inverse(a) & b},
    {"orn1", inverse(a) | b},
};

/// Conversions of two floats to the halves of a register.
constexpr std::string_view pair_conversions[] = {
    "v_cvt_pk_bf16_f32",    "v_cvt_pk_f16_f32",     "v_cvt_pkrtz_f16_f32",
    "v_cvt_pknorm_i16_f32", "v_cvt_pknorm_u16_f32", "v_cvt_pknorm_i16_f16",
    "v_cvt_pknorm_u16_f16", "v_cvt_pk_i16_i32",     "v_cvt_pk_u16_u32",
};

using RuleMap = std::unordered_map<std::string_view, const Rule *>;
const RuleMap &rule_map() {
  static const RuleMap map = [] {
    RuleMap result;
    for (const Rule &rule : rules)
      result.emplace(rule.name, &rule);
    return result;
  }();
  return map;
}

bool is_wide(OperandType type) {
  return type == OperandType::Bits64 || type == OperandType::Float64 || type == OperandType::PackedFloat32;
}
bool is_16_bit(OperandType type) { return type == OperandType::Bits16 || type == OperandType::Float16; }
bool is_half_pair(OperandType type) {
  return type == OperandType::PackedBits16 || type == OperandType::PackedFloat16;
}

void set_bits(std::array<uint64_t, 2> &bits, const RegisterRange &range) {
  for (unsigned k = 0; k < range.count && range.first + k < 128u; ++k)
    bits[(range.first + k) / 64] |= uint64_t{1} << (range.first + k) % 64;
}

class FlowMaker {
public:
  FlowMaker(const Instruction &instruction, const Effects &effects, const uint32_t *zeros)
      : instruction_(instruction), operation_(*instruction.operation), name_(operation_.name),
        effects_(effects), zeros_(zeros) {}

  Flow make() {
    registers();
    if (operation_.name.starts_with("s_"))
      scalar();
    else if (operation_.category == Category::Mfma)
      matrix();
    else if (const auto found = rule_map().find(name_); found != rule_map().end())
      by_rule(*found->second);
    else if (operation_.category == Category::Valu)
      arithmetic();
    else if (!effects_.reads.empty() || !effects_.writes.empty())
      memory();
    plane();
    if (flow_.kind == Kind::VectorArithmetic)
      more();
    return std::move(flow_);
  }

private:
  void registers() {
    for (const RegisterRange &range : effects_.reads)
      if (range.vector)
        flow_.reads.push_back(range);
      else
        set_bits(flow_.scalar_reads, range);
    for (const RegisterRange &range : effects_.writes)
      if (range.vector)
        flow_.writes.push_back(range);
      else
        set_bits(flow_.scalar_writes, range);
    flow_.reads_scc = effects_.reads_scc;
    flow_.writes_scc = effects_.writes_scc;
    flow_.writes_exec = flow_.scalar_writes[1] >> (scalar::exec - 64) != 0;
  }

  void by_rule(const Rule &rule) {
    flow_.kind = rule.kind;
    flow_.control = rule.control;
    flow_.table = rule.table;
    if (rule.kind == Kind::VectorLogic) {
      flow_.shifts_first = name_ == "v_lshl_or_b32";
      if (operation_.has(Operation::TruthTable))
        flow_.table = static_cast<uint8_t>(instruction_.immediate);
      same_sources();
    }
    control_bits();
    flow_.is_choice = name_ == "v_cndmask_b32";
    flow_.perm_selector = name_ == "v_perm_b32";
    if (rule.kind == Kind::VectorMove || rule.kind == Kind::VectorLogic)
      vector_result();
    // Lane numbers and exchanges reach over lanes; a move may leave lanes alone.
    if (rule.kind == Kind::VectorMove &&
        (name_.starts_with("v_readlane") || name_.starts_with("v_writelane") ||
         name_.starts_with("v_permlane") || name_.starts_with("v_swap") || name_.starts_with("ds_"))) {
      flow_.all_lanes = true;
      flow_.keeps_lanes = true;
    }
    if (name_.starts_with("ds_"))
      flow_.control = name_ == "ds_swizzle_b32" ? 0 : 8;
  }

  /// Bits of an amount that count.
  void control_bits() {
    const bool wide = name_.ends_with("64"), narrow = name_.ends_with("16");
    const uint32_t amount = name_.starts_with("v_pk_") ? 0x000F000F : wide ? 63 : narrow ? 15 : 31;
    uint32_t bits = amount;
    if (name_.starts_with("s_bfe"))
      bits = 0x7F0000 | amount;
    if (name_ == "v_alignbyte_b32")
      bits = 3;
    if (name_ == "v_perm_b32" || name_ == "v_cndmask_b32")
      bits = ~uint32_t{0};
    if (name_ == "v_readlane_b32" || name_ == "v_writelane_b32")
      bits = lane_count - 1;
    for (unsigned k = 0; k < 3; ++k)
      if (flow_.control >> k & 1)
        flow_.used[k] = bits;
  }

  void same_sources() {
    const Source &x = instruction_.source[0], &y = instruction_.source[1];
    flow_.same_sources = !flow_.shifts_first && x.kind == y.kind &&
                         (x.kind == Source::Kind::Vector || x.kind == Source::Kind::Scalar) &&
                         x.index == y.index && !x.modified && !y.modified;
  }

  void arithmetic() {
    flow_.kind = Kind::VectorArithmetic;
    const OperandType result = operation_.result;
    const bool pairs = is_half_pair(result) && is_half_pair(operation_.source[0]);
    if (std::find(std::begin(pair_conversions), std::end(pair_conversions), name_) !=
        std::end(pair_conversions))
      flow_.elements = Elements::SourceByHalf;
    else if (pairs)
      flow_.elements = Elements::Halves;
    else if (result == OperandType::PackedFloat32 && operation_.source[0] == OperandType::PackedFloat32)
      flow_.elements = Elements::Words;
    else if (name_ == "v_mad_u64_u32" || name_ == "v_mad_i64_i32" || name_ == "v_lshl_add_u64")
      flow_.elements = Elements::Upward; // LLVM adds words in them and leaves the upper ones undefined
    for (unsigned k = 0; k < 3; ++k)
      if (is_16_bit(operation_.source[k]))
        flow_.used[k] = 0xFFFF;
    if (name_.find("24") != std::string_view::npos &&
        (name_.starts_with("v_mul_") || name_.starts_with("v_mad_")))
      flow_.used[0] = flow_.used[1] = 0xFFFFFF;
    if (name_.starts_with("v_cvt_f32_ubyte"))
      flow_.used[0] = 0xFFu << 8 * (name_.back() - '0');
    if (name_ == "v_cvt_f32_fp8" || name_ == "v_cvt_f32_bf8")
      flow_.used[0] = 0xFF;
    flow_.implicit_mask = name_.starts_with("v_div_fmas");
    vector_result();
    conversion();
  }

  /// Which bits of its destination a vector instruction replaces, and which of those hold a value.
  void vector_result() {
    flow_.keeps_lanes |= instruction_.permuted;
    const OperandType result = operation_.result;
    if (instruction_.sdwa_select < 6) {
      const unsigned select = instruction_.sdwa_select;
      const unsigned shift = select < 4 ? 8 * select : 16 * (select - 4);
      const uint32_t part = (select < 4 ? 0xFFu : 0xFFFFu) << shift;
      flow_.results = instruction_.sdwa_unused == 1 ? ~uint32_t{0} << shift : part;
      flow_.replaced = instruction_.sdwa_unused == 2 ? part : ~uint32_t{0};
    } else if (is_16_bit(result)) {
      flow_.results = instruction_.op_sel & 8 ? 0xFFFF0000 : 0xFFFF;
      flow_.replaced = (instruction_.op_sel & 8) || operation_.has(Operation::PreservesHigh) ? flow_.results
                                                                                             : ~uint32_t{0};
    }
  }

  void replaces(uint32_t bits) { flow_.results = flow_.replaced = bits; }

  /// Conversions that write a byte or a half of the register that op_sel names, or read one.
  void conversion() {
    const uint32_t half = instruction_.op_sel & 8 ? 0xFFFF0000u : 0xFFFFu;
    const uint32_t byte = 0xFFu << 8 * (instruction_.op_sel >> 2 & 3);
    const uint32_t source_half = instruction_.op_sel & 1 ? 0xFFFF0000u : 0xFFFFu;
    const uint32_t source_byte = 0xFFu << 8 * (instruction_.op_sel & 3);
    if (name_ == "v_fma_mixlo_f16")
      replaces(0xFFFF);
    if (name_ == "v_fma_mixhi_f16")
      replaces(0xFFFF0000);
    if (name_ == "v_cvt_pk_fp8_f32" || name_ == "v_cvt_pk_bf8_f32" || name_ == "v_cvt_sr_bf16_f32" ||
        name_ == "v_cvt_sr_f16_f32")
      replaces(half);
    if (name_ == "v_cvt_sr_fp8_f32" || name_ == "v_cvt_sr_bf8_f32")
      replaces(byte);
    std::string_view rest = name_;
    constexpr std::string_view scaled = "v_cvt_scalef32_";
    if (!rest.starts_with(scaled))
      return;
    rest.remove_prefix(scaled.size());
    const bool many = rest.find("pk32") != std::string_view::npos || rest.starts_with("2xpk16");
    const std::string_view to = rest.substr(0, rest.rfind('_')), from = rest.substr(rest.rfind('_') + 1);
    flow_.product = from.starts_with("fp") || from == "bf8" || from == "bf6";
    if (many)
      return;
    const bool pair = to.find("pk_") != std::string_view::npos;
    if (flow_.product) {
      flow_.used[0] = pair && from != "fp4" ? source_half : source_byte;
      if (!pair && to == "f16")
        replaces(half);
    } else {
      replaces(pair && !to.ends_with("fp4") ? half : byte);
    }
  }

  void matrix() {
    if (const auto shape = parse_matrix_name(name_)) {
      flow_.kind = Kind::Matrix;
      flow_.shape = *shape;
      flow_.is_sparse = operation_.has(Operation::SparseIndex);
    } else {
      flow_.kind = Kind::VectorArithmetic;
    }
    flow_.all_lanes = true;
  }

  void scalar() {
    std::string_view rest = name_.substr(2);
    if (operation_.category == Category::Smem)
      return scalar_memory();
    if (const auto found = rule_map().find(name_); found != rule_map().end())
      return by_rule(*found->second);
    if (name_.starts_with("s_cbranch")) {
      flow_.kind = Kind::Branch;
      return;
    }
    for (const ScalarLogic &logic : scalar_logic) {
      if (!rest.starts_with(logic.name))
        continue;
      const std::string_view suffix = rest.substr(logic.name.size());
      if (suffix != "_b32" && suffix != "_b64" && suffix != "_saveexec_b64" && suffix != "_wrexec_b64")
        continue;
      flow_.kind = Kind::ScalarLogic;
      flow_.table = logic.table;
      flow_.is_wide = suffix != "_b32";
      if (suffix == "_b32" || suffix == "_b64")
        same_sources();
      return;
    }
    if (effects_.reads.empty() && effects_.writes.empty() && !effects_.reads_scc && !effects_.writes_scc)
      return;
    flow_.kind = Kind::ScalarArithmetic;
  }

  void scalar_memory() {
    const auto is = [&](std::string_view part) { return name_.find(part) != std::string_view::npos; };
    if (!is("load_") && !is("store_") && !is("atomic_")) {
      flow_.kind = Kind::ScalarArithmetic;
      return;
    }
    flow_.kind = Kind::ScalarMemory;
    flow_.loads = is("load_");
    flow_.is_atomic = is("atomic_");
    if (!flow_.loads)
      for (const RegisterRange &range : effects_.reads)
        if (range.first == instruction_.destination)
          set_bits(flow_.scalar_data, range);
  }

  void memory() {
    flow_.kind = Kind::VectorMemory;
    flow_.converts = name_.find("_format_") != std::string_view::npos;
    const bool is_lds = operation_.category == Category::Lds;
    flow_.loads = is_lds ? name_.starts_with("ds_read") : operation_.category == Category::VmemLoad;
    flow_.is_atomic =
        is_lds ? !flow_.loads && !name_.starts_with("ds_write") : operation_.category == Category::VmemAtomic;
    // A register that is both address and data is listed twice: MUBUF lists the data first, others the
    // address.
    const bool is_buffer = name_.starts_with("buffer_") || name_.starts_with("tbuffer_");
    size_t address = flow_.reads.size();
    for (size_t k = 0; k < flow_.reads.size(); ++k)
      if (flow_.reads[k].first == instruction_.address_register && has_address(is_buffer) &&
          (is_buffer || address == flow_.reads.size()))
        address = k;
    for (size_t k = 0; k < flow_.reads.size(); ++k)
      if (k == address)
        flow_.addresses.push_back(flow_.reads[k]);
      else if (!flow_.loads)
        flow_.data.push_back(flow_.reads[k]);
    const auto has = [&](std::string_view part) { return name_.find(part) != std::string_view::npos; };
    if (has("_store_byte") || has("ds_write_b8"))
      flow_.stored = 0xFF;
    if (has("_store_short") || name_.starts_with("ds_write_b16"))
      flow_.stored = 0xFFFF;
    if (has("_d16_hi"))
      flow_.stored <<= 16;
    if (flow_.loads) // what is kept of a destination is no source
      flow_.reads = flow_.addresses;
    if (name_.find("_d16") != std::string_view::npos && flow_.loads && !flow_.converts)
      flow_.replaced = flow_.results = name_.ends_with("_hi") ? 0xFFFF0000 : 0xFFFF;
  }

  /// Whether the address comes from a vector register.
  bool has_address(bool is_buffer) const {
    if (is_buffer)
      return instruction_.uses_offset || instruction_.uses_index;
    if (name_.starts_with("scratch_"))
      return instruction_.uses_offset;
    return name_.find("addtid") == std::string_view::npos && name_ != "ds_append" && name_ != "ds_consume";
  }

  void plane() {
    Instruction &plane = flow_.on_plane;
    plane = instruction_;
    plane.clamp = false;
    plane.output_modifier = 0;
    plane.neg_lo = plane.neg_hi = 0;
    if (name_ == "s_cmovk_i32")
      plane.immediate = 0;
    if (name_ == "s_set_gpr_idx_mode")
      plane.immediate = 0;
    if (name_ == "s_set_gpr_idx_on")
      plane.source[1].index = 0;
    // Setting a bit to a constant defines it.
    if (name_.starts_with("s_bitset1"))
      plane.run = find_operation(name_.ends_with("b64") ? "s_bitset0_b64" : "s_bitset0_b32")->handler;
    for (unsigned k = 0; k < 3; ++k) {
      Source &source = plane.source[k];
      source.absolute = source.negative = false;
      const bool is_exec = source.kind == Source::Kind::Scalar && source.index >= scalar::exec;
      if (source.kind == Source::Kind::Constant || source.kind == Source::Kind::Special || is_exec) {
        source.kind = Source::Kind::Constant;
        source.value = 0;
        source.lanes = zeros_;
      }
    }
  }

  bool is_source(unsigned reg) const {
    for (const Source &source : instruction_.source) {
      const unsigned words = is_wide(source.type) ? 2 : 1;
      if (source.kind == Source::Kind::Vector && source.type != OperandType::None && reg >= source.index &&
          reg < source.index + words)
        return true;
    }
    return false;
  }

  /// What is kept of a destination is no source; what no source operand names counts whole.
  void more() {
    std::vector<RegisterRange> reads;
    for (const RegisterRange &range : flow_.reads) {
      bool kept = false;
      for (const RegisterRange &written : flow_.writes)
        kept |= range == written && flow_.replaced != ~uint32_t{0} && !flow_.keeps_lanes;
      for (unsigned r = range.first; r < unsigned{range.first} + range.count; ++r)
        if (is_source(r))
          kept = false;
        else if (!kept && !flow_.keeps_lanes)
          flow_.more.push_back({static_cast<uint16_t>(r), 1, true});
      if (!kept)
        reads.push_back(range);
    }
    flow_.reads = std::move(reads);
  }

  const Instruction &instruction_;
  const Operation &operation_;
  std::string_view name_;
  const Effects &effects_;
  const uint32_t *zeros_;
  Flow flow_;
};

const uint32_t zero_lanes[2 * lane_count] = {};

} // namespace

FlowTable::FlowTable(const Program &program) {
  flows.reserve(program.size());
  for (uint32_t index = 0; index < program.size(); ++index) {
    const Instruction &instruction = program[index];
    flows.push_back(instruction.operation ? FlowMaker(instruction, program.effects(index), zero_lanes).make()
                                          : Flow());
    for (const auto *ranges : {&flows.back().reads, &flows.back().writes})
      for (const RegisterRange &range : *ranges)
        last_vector = std::max(last_vector, range.first + range.count - 1u);
    if (instruction.operation && instruction.operation->name.starts_with("s_set_gpr_idx"))
      last_vector = std::max(last_vector, accumulation_base - 1);
  }
  last_vector = std::min(last_vector, vector_registers - 1);
}

const FlowTable &flows_of(LaunchState &state) {
  std::call_once(state.flows_made,
                 [&] { state.flows = std::make_shared<const FlowTable>(state.code->program()); });
  return *state.flows;
}

} // namespace nereid::sim
