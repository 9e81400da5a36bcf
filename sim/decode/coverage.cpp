// Finds every mnemonic that LLVM knows for gfx950 by trying all opcodes of all encodings, and says which have
// a row.

#include "sim/decode/coverage.h"

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>

#include "sim/decode/disassembler.h"
#include "sim/decode/program.h"

namespace nereid::sim {
namespace {

/// Where an encoding keeps its opcode; the fixed bits are those of the CDNA3 and CDNA4 ISA descriptions.
struct Encoding {
  const char *name;
  uint32_t fixed;
  unsigned opcode_shift;
  unsigned opcode_bits;
};
constexpr Encoding encodings[] = {
    {"SOP1", 0xBE800000, 8, 8},   {"SOPC", 0xBF000000, 16, 7},   {"SOPP", 0xBF800000, 16, 7},
    {"SOPK", 0xB0000000, 23, 5},  {"SOP2", 0x80000000, 23, 7},   {"SMEM", 0xC0000000, 18, 8},
    {"VOP1", 0x7E000000, 9, 8},   {"VOPC", 0x7C000000, 17, 8},   {"VOP2", 0x00000000, 25, 6},
    {"VOP3P", 0xD3800000, 16, 7}, {"VOP3", 0xD0000000, 16, 10},  {"DS", 0xD8000000, 17, 8},
    {"FLAT", 0xDC000000, 18, 7},  {"MUBUF", 0xE0000000, 18, 7},  {"MTBUF", 0xE8000000, 15, 4},
    {"MIMG", 0xF0000000, 18, 7},  {"VINTRP", 0xD4000000, 16, 2}, {"EXP", 0xC4000000, 0, 0},
};

/// Bits in addition to the opcode, in the first and the second word. Zero operands are scalar registers,
/// which many instructions refuse.
struct Operands {
  uint32_t first, second;
};
constexpr Operands operand_choices[] = {
    {0, 0},
    {0, 0x00020100},       // VOP3 of two operands, scales of an MFMA
    {0, 0x04020100},       // VOP3: vector registers
    {0x100, 0},            // VOP1, VOP2, VOPC: a vector register
    {0xF9, 0x06060600},    // SDWA
    {0xFA, 0xFF00E400},    // DPP
    {0, 0x007F0000},       // FLAT without SADDR
    {0x4000, 0x007F0000},  // scratch
    {0x8000, 0x007F0000},  // global
    {0x10000, 0x007F0000}, // GDS, sc0
    {0xA000, 0x007F0000},  // global to LDS
    {0x18000, 0},
    {0x10000, 0x80000000}, // MUBUF to LDS
    {0x4000, 0x80000000},
    {0x20000, 0}, // SMEM with an immediate
    {0x22000, 0},
    {0x8000, 0x04020100}, // AGPR, op_sel
    {0x8000, 0x1C020100},
};

/// An f8f6f4 MFMA after the two words that load its scales is one instruction with them; 0: nothing follows
/// them.
constexpr uint32_t scaled_shapes[] = {0xD3AD0800, 0xD3AE0800, 0};
constexpr uint32_t matrix_registers = 0x04020100;

/// What is said of operations whose results AMD does not specify to the bit.
constexpr const char *approximate = "within 1 ulp of the exact result";

constexpr const char *wave_sync =
                         "global wave sync: needs a resource that the driver gives to whole dispatches",
                     *discarding =
                         "throws away stores of the scalar cache: what memory holds afterwards is undefined",
                     *trap_return = "returns from a trap handler; traps end a simulated run";

/// Why instructions end with the fault "unsupported": no compute kernel uses them.
struct Reason {
  std::string_view mnemonic;
  const char *text;
};
constexpr Reason reasons[] = {
    {"ds_gws_barrier", wave_sync},
    {"ds_gws_init", wave_sync},
    {"ds_gws_sema_br", wave_sync},
    {"ds_gws_sema_p", wave_sync},
    {"ds_gws_sema_release_all", wave_sync},
    {"ds_gws_sema_v", wave_sync},
    {"s_dcache_discard", discarding},
    {"s_dcache_discard_x2", discarding},
    {"s_endpgm_ordered_ps_done", "ends a pixel shader"},
    {"s_rfe_b64", trap_return},
    {"s_rfe_restore_b64", trap_return},
    {"s_sendmsghalt", "halts the wave until a trap handler or a debugger wakes it"},
    {"v_mfma_ld_scale_b32", "the first half of v_mfma_scale_*, which is simulated as one instruction"},
    {"v_screen_partition_4se_b32", "screen tiles of a pixel shader"},
};

const char *reason_for(std::string_view mnemonic) {
  for (const Reason &reason : reasons)
    if (mnemonic == reason.mnemonic)
      return reason.text;
  return "not simulated";
}

class Enumeration {
public:
  Enumeration() {
    for (const Encoding &encoding : encodings)
      for (uint32_t opcode = 0; opcode < uint32_t{1} << encoding.opcode_bits; ++opcode)
        for (const Operands &operands : operand_choices)
          for (uint32_t shape : scaled_shapes)
            add(encoding, {encoding.fixed | opcode << encoding.opcode_shift | operands.first, operands.second,
                           shape, matrix_registers});
  }
  const std::map<std::string, const char *, std::less<>> &names() const { return names_; }

private:
  void add(const Encoding &encoding, const std::array<uint32_t, 4> &words) {
    const auto decoded = disassembler_.decode(std::as_bytes(std::span(words)), 0);
    if (decoded.size != 0 && names_.find(decoded.mnemonic) == names_.end())
      names_.emplace(decoded.mnemonic, encoding.name);
  }

  Disassembler disassembler_;
  std::map<std::string, const char *, std::less<>> names_;
};

} // namespace

std::vector<CoverageRow> coverage() {
  std::vector<CoverageRow> rows;
  const Enumeration enumeration;
  for (const auto &[name, encoding] : enumeration.names()) {
    const Operation *operation = find_operation(name);
    const bool is_approximate = operation && operation->hazard == HazardClass::Transcendental;
    const char *note = !operation ? reason_for(name) : is_approximate ? approximate : "";
    rows.push_back({name, encoding, operation != nullptr, note});
  }
  return rows;
}

} // namespace nereid::sim
