#!/usr/bin/env python3
"""Tests of loopstat.py, on assembler text."""
import unittest

import loopstat


def loop(*lines):
    """A kernel whose loop has these instructions."""
    body = "\n".join("  " + line for line in lines)
    return f"kernel:\n  s_mov_b32 s0, 0\n.LBB0_1:\n{body}\n  s_cbranch_scc1 .LBB0_1\n  s_endpgm\n"


class MatrixCycles(unittest.TestCase):
    def cycles(self, instruction):
        return loopstat.analyse(loop(instruction))["hot"]["mfma_cyc"]

    def test_instructions_of_16_rows_take_16(self):
        for name in ("16x16x32_f16", "16x16x32_bf16"):
            self.assertEqual(self.cycles(f"v_mfma_f32_{name} v[0:3], v[4:7], v[8:11], v[0:3]"), 16)
        self.assertEqual(self.cycles("v_mfma_i32_16x16x64_i8 v[0:3], v[4:7], v[8:11], v[0:3]"), 16)

    def test_instructions_of_32_rows_take_32(self):
        for name in ("f32_32x32x16_f16", "f32_32x32x16_bf16", "i32_32x32x32_i8"):
            self.assertEqual(self.cycles(f"v_mfma_{name} v[0:15], v[16:19], v[20:23], v[0:15]"), 32)

    def test_scaled_instructions_take_twice_as_long_with_an_operand_of_8_bits(self):
        small = "v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:7], v[8:11], v[0:3], v12, v13 op_sel_hi:[0,0,0]"
        large = "v_mfma_scale_f32_32x32x64_f8f6f4 v[0:15], v[16:19], v[20:23], v[0:15], v24, v25 op_sel_hi:[0,0,0]"
        for instruction, cycles in ((small, 16), (large, 32)):
            self.assertEqual(self.cycles(instruction + " cbsz:4 blgp:4"), cycles)
            self.assertEqual(self.cycles(instruction + " cbsz:2 blgp:3"), cycles)
            self.assertEqual(self.cycles(instruction + " blgp:4"), 2 * cycles)
            self.assertEqual(self.cycles(instruction + " cbsz:1 blgp:4"), 2 * cycles)
            self.assertEqual(self.cycles(instruction), 2 * cycles)


class Figures(unittest.TestCase):
    def test_valu_a_unit_counts_units_of_16_cycles(self):
        hot = loopstat.analyse(loop("v_mfma_f32_32x32x16_f16 v[0:15], v[16:19], v[20:23], v[0:15]",
                                    "v_add_u32_e32 v30, 1, v30", "v_add_u32_e32 v31, 1, v31"))["hot"]
        self.assertEqual(hot["valu"], 2)
        self.assertEqual(hot["valu_a_unit"], 1.0)

    def test_the_loop_waits_for_the_matrix_core(self):
        hot = loopstat.analyse(loop(*["v_mfma_f32_32x32x16_f16 v[0:15], v[16:19], v[20:23], v[0:15]"] * 4))["hot"]
        self.assertEqual(hot["iter_cyc"], 128)

    def test_a_transcendental_takes_two_issue_slots(self):
        hot = loopstat.analyse(loop("v_mfma_f32_16x16x32_f16 v[0:3], v[4:7], v[8:11], v[0:3]",
                                    "v_exp_f32_e32 v30, v31"))["hot"]
        self.assertEqual(hot["valu_issue_cyc"], 4 + 8)

    def test_transposing_reads_are_reads_of_8_bytes(self):
        hot = loopstat.analyse(loop("ds_read_b64_tr_b16 v[0:1], v2",
                                    "v_mfma_f32_16x16x32_f16 v[0:3], v[4:7], v[8:11], v[0:3]"))["hot"]
        self.assertEqual((hot["ds_read"], hot["ds_read_tr"], hot["ds_read_bytes"]), (1, 1, 512))


if __name__ == "__main__":
    unittest.main()
