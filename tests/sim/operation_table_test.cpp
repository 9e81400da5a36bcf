// The instruction tables: one row a mnemonic, columns that agree with each other, and for rows of each kind
// what the columns that the checks read have to say.

#include <set>

#include <gtest/gtest.h>

#include "sim/decode/operations.h"
#include "sim/decode/program.h"

namespace nereid::sim {
namespace {

std::vector<Operation> all_rows() {
  std::vector<Operation> rows;
  for (const auto family : operation_families)
    for (Operation &row : family())
      rows.push_back(std::move(row));
  return rows;
}

TEST(OperationTable, HasOneRowForAMnemonic) {
  std::set<std::string> names;
  for (const Operation &row : all_rows())
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " has two rows";
  EXPECT_EQ(names.size(), supported_operations().size());
}

TEST(OperationTable, MatrixOperationsHaveAShape) {
  for (const Operation &row : all_rows()) {
    EXPECT_NE(row.handler, nullptr) << row.name;
    EXPECT_EQ(row.category == Category::Mfma, row.matrix.has_value()) << row.name;
    EXPECT_EQ(row.taint.kind == Taint::Kind::Matrix, row.matrix.has_value()) << row.name;
  }
}

TEST(OperationTable, CategoriesAgreeWithMemoryForms) {
  using Form = MemoryForm::Kind;
  for (const Operation &row : all_rows()) {
    if (row.category == Category::VmemLoad) {
      EXPECT_EQ(row.memory.kind, Form::Load) << row.name;
    }
    if (row.category == Category::VmemStore) {
      EXPECT_EQ(row.memory.kind, Form::Store) << row.name;
    }
    if (row.category == Category::VmemAtomic) {
      EXPECT_EQ(row.memory.kind, Form::Atomic) << row.name;
    }
    EXPECT_EQ(row.category == Category::Lds, row.uses_lds_unit()) << row.name;
    const bool moves =
        row.memory.kind == Form::Load || row.memory.kind == Form::Store || row.memory.kind == Form::Atomic;
    if (moves) {
      EXPECT_EQ(row.taint.kind, Taint::Kind::Memory) << row.name;
      EXPECT_NE(row.counter, WaitCounter::None) << row.name;
    }
  }
}

struct Facts {
  const char *name;
  Taint::Kind taint = Taint::Kind::Arithmetic;
  uint8_t control = 0;
  uint32_t control_bits = ~uint32_t{0};
  HazardClass hazard = HazardClass::None;
  WaitCounter counter = WaitCounter::None;
};

TEST(OperationTable, StatesWhatTheChecksNeed) {
  using Kind = Taint::Kind;
  constexpr uint32_t all = ~uint32_t{0};
  const Facts expected[] = {
      {"v_add_f32"},
      {"v_mov_b32", Kind::Move},
      {"v_lshlrev_b32", Kind::Move, 1, 31},
      {"v_ashrrev_i64", Kind::Move, 1, 63},
      {"v_lshrrev_b16", Kind::Move, 1, 15},
      {"v_pk_lshlrev_b16", Kind::Move, 1, 0x000F000F},
      {"v_bfe_u32", Kind::Move, 6, 31},
      {"v_alignbyte_b32", Kind::Move, 4, 3},
      {"v_perm_b32", Kind::Move, 4, all},
      {"v_cndmask_b32", Kind::Move, 4, all},
      {"v_lshl_or_b32", Kind::Logic, 2, 31},
      {"v_bitop3_b16", Kind::Logic},
      {"v_readlane_b32", Kind::Move, 2, 63, HazardClass::ReadLane},
      {"v_writelane_b32", Kind::Move, 2, 63, HazardClass::WriteLane},
      {"v_permlane32_swap_b32", Kind::Move, 0, all, HazardClass::LaneSwap},
      {"v_rsq_f64", Kind::Arithmetic, 0, all, HazardClass::Transcendental},
      {"v_exp_f16", Kind::Arithmetic, 0, all, HazardClass::Transcendental},
      {"v_dot4c_i32_i8", Kind::Arithmetic, 0, all, HazardClass::DotProduct},
      {"v_pk_fma_f32", Kind::Arithmetic, 0, all, HazardClass::PackedF32},
      {"v_pk_mov_b32", Kind::Move},
      {"v_fmac_f64", Kind::Arithmetic, 0, all, HazardClass::F64Fma},
      {"v_cvt_sr_fp8_f32", Kind::Arithmetic, 0, all, HazardClass::SelectedByteResult},
      {"v_cvt_scalef32_sr_pk_fp4_f32", Kind::Arithmetic, 0, all, HazardClass::MovedResult},
      {"v_cvt_scalef32_pk_f32_fp4"},
      {"v_mfma_f32_16x16x32_bf16", Kind::Matrix},
      {"v_smfmac_i32_32x32x64_i8", Kind::Matrix},
      {"s_add_u32"},
      {"s_mov_b64", Kind::Move},
      {"s_lshl_b64", Kind::Move, 2, 63},
      {"s_bfe_u64", Kind::Move, 2, 0x7F003F},
      {"s_bitset1_b32", Kind::Move, 1, 31},
      {"s_bitcmp0_b64", Kind::BitTest, 2, 63},
      {"s_movrels_b32", Kind::Arithmetic, 0, all, HazardClass::ReadsM0},
      {"s_cbranch_scc1", Kind::BranchOnScc},
      {"s_cbranch_vccz", Kind::BranchOnVcc},
      {"s_cbranch_execz", Kind::Branch},
      {"s_setpc_b64", Kind::Branch},
      {"s_setreg_imm32_b32", Kind::Arithmetic, 0, all, HazardClass::SetsHardwareRegister},
      {"s_nop", Kind::Arithmetic, 0, all, HazardClass::WaitStates},
      {"s_load_dwordx4", Kind::Memory, 0, all, HazardClass::None, WaitCounter::Scalar},
      {"s_buffer_atomic_add", Kind::Memory, 0, all, HazardClass::None, WaitCounter::Scalar},
      {"s_memtime", Kind::Arithmetic, 0, all, HazardClass::None, WaitCounter::Scalar},
      {"s_dcache_wb"},
      {"global_load_dword", Kind::Memory, 0, all, HazardClass::None, WaitCounter::Vector},
      {"global_load_lds_dwordx4", Kind::Memory, 0, all, HazardClass::ReadsM0, WaitCounter::Vector},
      {"scratch_store_byte", Kind::Memory, 0, all, HazardClass::None, WaitCounter::Vector},
      {"flat_atomic_add", Kind::Memory, 0, all, HazardClass::None, WaitCounter::Flat},
      {"tbuffer_load_format_xyzw", Kind::Memory, 0, all, HazardClass::None, WaitCounter::Vector},
      {"buffer_wbl2", Kind::Memory, 0, all, HazardClass::None, WaitCounter::Vector},
      {"buffer_inv", Kind::Memory},
      {"ds_read_b128", Kind::Memory, 0, all, HazardClass::None, WaitCounter::Lds},
      {"ds_read_addtid_b32", Kind::Memory, 0, all, HazardClass::ReadsM0, WaitCounter::Lds},
      {"ds_bpermute_b32", Kind::Move, Taint::address_controls, all, HazardClass::None, WaitCounter::Lds},
      {"ds_nop", Kind::None},
  };
  for (const Facts &facts : expected) {
    const Operation *row = find_operation(facts.name);
    ASSERT_NE(row, nullptr) << facts.name;
    EXPECT_EQ(row->taint.kind, facts.taint) << facts.name;
    EXPECT_EQ(row->taint.control, facts.control) << facts.name;
    EXPECT_EQ(row->taint.control_bits, facts.control_bits) << facts.name;
    EXPECT_EQ(row->hazard, facts.hazard) << facts.name;
    EXPECT_EQ(row->counter, facts.counter) << facts.name;
  }
}

TEST(OperationTable, TruthTablesAreThoseOfTheFunctions) {
  constexpr struct {
    const char *name;
    unsigned table; ///< bit 4a + 2b + c is the result
  } expected[] = {
      {"v_and_b32", 0xC0},           {"v_or_b32", 0xFC},           {"v_xor_b32", 0x3C},
      {"v_xnor_b32", 0xC3},          {"v_not_b32", 0x0F},          {"v_bfi_b32", 0xCA},
      {"v_and_or_b32", 0xEA},        {"v_or3_b32", 0xFE},          {"s_and_b32", 0xC0},
      {"s_andn2_b64", 0x30},         {"s_orn2_b32", 0xF3},         {"s_nand_b64", 0x3F},
      {"s_nor_b32", 0x03},           {"s_not_b64", 0x0F},          {"s_andn1_saveexec_b64", 0x0C},
      {"s_orn1_saveexec_b64", 0xCF}, {"s_andn2_wrexec_b64", 0x30},
  };
  for (const auto &[name, table] : expected) {
    const Operation *row = find_operation(name);
    ASSERT_NE(row, nullptr) << name;
    EXPECT_EQ(row->taint.kind, Taint::Kind::Logic) << name;
    EXPECT_EQ(row->taint.truth_table, table) << name;
  }
}

} // namespace
} // namespace nereid::sim
