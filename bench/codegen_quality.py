#!/usr/bin/env python3
"""Counts the code of the library's kernels, and of kernels as authors write them, and prints the table of
docs/codegen-quality.md.

usage: bench/codegen_quality.py [--command build/bin/nereid] [--write docs/codegen-quality.md] [--check] [--times]

Every row of the library is compiled with `nereid compile ... --emit hsaco` (whole-kernel rows: --emit isa, without
an object's padding), those of authors by `author_kernels` beside the command, and counted by loopstat.py: the innermost loop with the most MFMAs, cycles of its model (4 an
instruction, 8 a transcendental, 16 a 16x16 MFMA and 32 a 32x32 one, no memory stalls). --times prints how long each row takes from trace to code object, beside its
budget, instead of the counts. --check ends with 1 when a figure is beyond its bound.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import loopstat

BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"


class Kernel:
    """One compiled kernel: its counts and the facts of its configuration."""

    def __init__(self, command, name, config, shape):
        self.name = name
        self.config = dict(item.split("=") for item in config.split(","))
        self.shape = [int(x) for x in shape.split(",")]
        compiled = [command, "compile", name, "--config", config, "--shape", shape, "--emit"]
        with tempfile.TemporaryDirectory() as folder:
            self.object = loopstat.analyse(self._emit(compiled, "hsaco", folder))
            self.text = loopstat.analyse(self._emit(compiled, "isa", folder))
            resources = subprocess.run(compiled + ["resources"], check=True, capture_output=True, text=True)
        self.resources = json.loads(resources.stdout)
        self.hot = self.object["hot"]
        innermost = [loop for loop in self.object["loops"] if loop["innermost"] and loop["mfma"] == self.hot["mfma"]]
        self.shortest = min(innermost, key=lambda loop: loop["insns"], default=self.hot)
        self.whole = self.text["function"]

    @staticmethod
    def _emit(compiled, what, folder):
        path = os.path.join(folder, "kernel." + ("hsaco" if what == "hsaco" else "s"))
        subprocess.run(compiled + [what, "-o", path], check=True, capture_output=True)
        return path


class AuthorKernel:
    """The same of a kernel of bench/author_kernels.cpp."""

    def __init__(self, command, name, config, shape):
        del shape
        self.config = dict(item.split("=") for item in config.split(","))
        answer = subprocess.run([author_kernels(command), name, config], check=True, capture_output=True, text=True,
                                env={**os.environ, "NEREID_CACHE_DIR": "off"})
        text = loopstat.analyse(answer.stdout)
        self.hot, self.whole = text["hot"], text["function"]
        self.resources = {"vgpr": number_after(answer.stdout, ".vgpr_count:"),
                          "scratch": number_after(answer.stdout, ".private_segment_fixed_size:"),
                          "agpr": 0}  # .vgpr_count has them
        self.compile_ms = float(answer.stdout.split()[3])


def author_kernels(command):
    return os.path.join(os.path.dirname(command), "author_kernels")


def number_after(text, key):
    return int(text.split(key)[1].split()[0])


# VALU a value of A = VALU of all waves x 64 / values; the values of a round follow from its multiplications.
def valu_a_value(k):
    return k.hot["valu"] * 64 * int(k.config["block_n"]) / k.hot["macs"]


def quant_valu_a_value(k):
    return k.whole["valu"] * 64 * int(k.config["waves"]) / (int(k.config["block_m"]) * int(k.config["block_k"]))


def of_values(k, count):
    """An instruction of all waves for each 64 values of a tile."""
    return count * 64 * int(k.config["waves"]) / (int(k.config.get("rows", 1)) * int(k.config["columns"]))


def row_valu_a_value(k):
    return k.whole["valu"] * 64 * int(k.config["waves"]) / (int(k.config["block_m"]) * k.shape[2])


def narrow_loads_a_unit(k):
    wide = k.hot["vmem_load_ops"].get("buffer_load_dwordx4", 0) + k.hot["load_to_lds"]
    return (k.hot["vmem_load"] - wide) * 16 / k.hot["mfma_cyc"]


# VALU an element of the scores, of all lanes; the elements follow from the multiplications of both products.
def valu_an_element(loop, k):
    products = 576 + 512 if k.name == "mla_decode" else 2 * int(k.config["head"]) + int(k.config.get("rotary", 0))
    return loop["valu"] * 64 * products / loop["macs"]


FIGURES = {
    "VALU a value": valu_a_value,
    "VALU a value, whole kernel": quant_valu_a_value,
    "barriers in loop": lambda k: k.hot["s_barrier"],
    "barriers": lambda k: k.whole["s_barrier"],
    "LDS bytes": lambda k: k.resources["lds"],
    "scratch": lambda k: k.resources["scratch"],
    "vmcnt(0) in loop": lambda k: k.hot["vmcnt0"],
    "load to wait, cycles (median)": lambda k: k.hot.get("vm_cyc", [0, 0, 0])[1],
    "instructions, whole kernel": lambda k: k.whole["insns"],
    "VALU per 64 MFMA": lambda k: k.hot["valu"] * 64 / k.hot["mfma"],
    "issue / MFMA cycles": lambda k: k.hot["iter_cyc"] / k.hot["mfma_cyc"],
    "VALU moves": lambda k: k.hot["valu_groups"].get("mov", 0) + k.hot["valu_groups"].get("accvgpr", 0),
    "loop bytes": lambda k: k.hot["bytes"],
    "VALU, whole kernel": lambda k: k.whole["valu"],
    "VALU a value of the tile": lambda k: of_values(k, k.whole["valu"]),
    "VALU a value of the rows": row_valu_a_value,
    "scale loads a unit": narrow_loads_a_unit,
    "loads and stores": lambda k: k.whole["vmem_load"] + k.whole["vmem_store"],
    "VALU a unit": lambda k: k.hot["valu_a_unit"],
    "loads not to LDS in loop": lambda k: k.hot["vmem_load"] - k.hot["load_to_lds"],
    "VALU an element": lambda k: valu_an_element(k.shortest, k),
    "VALU an element, masked": lambda k: valu_an_element(k.hot, k),
    "issue of VALU and MFMA / MFMA cycles": lambda k: k.shortest["valu_over_mfma_cyc"],
    "barriers in loop, an iteration": lambda k: k.hot["s_barrier"] / int(k.config["stages"]),
    "registers": lambda k: k.resources["vgpr"] + k.resources["agpr"],
}

FUSED = [("VALU a value", 2.0), ("barriers in loop", 1), ("vmcnt(0) in loop", 0)]
LARGE = [("vmcnt(0) in loop", 0)]
UNEVEN = [("scratch", 0), ("VALU moves", 0), ("issue / MFMA cycles", 1.05)]
LARGE_SHAPE = "4096,4096,4096"


def fused(block, split, shape="16,2112,7168"):
    return ("mxfp4_gemm_fused", tile(block) + f",split_k={split},waves=4,mfma=16,const_k=0", shape)


def large(block, waves=4):
    return ("mxfp4_gemm", tile(block) + (f",waves={waves}" if waves else "") + ",mfma=16,const_k=0", LARGE_SHAPE)


def tile(block):
    return ",".join(f"block_{axis}={size}" for axis, size in zip("mnk", block.split("x")))


def author(name, config):
    return (name, config, "")


def matmul(block, waves, element, even, stages):
    config = tile(block) + f",element={element},even={even},waves={waves},stages={stages},mfma=16"
    return ("matmul", config, LARGE_SHAPE)


def attention(head, causal, element="bf16"):
    config = f"head={head},causal={causal},element={element},block_m=128,block_n=64,waves=4,stages=2,mfma=32"
    return ("attention", config, f"4096,4096,{head}")


MATMUL = [("scratch", 0), ("vmcnt(0) in loop", 0), ("barriers in loop, an iteration", 1), ("loads not to LDS in loop", 0)]
DECODE = [("VALU an element", 5.5), ("VALU an element, masked", 7.5), ("scratch", 0), ("vmcnt(0) in loop", 0), ("barriers in loop, an iteration", 2)]
ATTENTION = [("scratch", 0), ("vmcnt(0) in loop", 0), ("barriers in loop, an iteration", 2), ("registers", 256)]

# kernel, figures with their bounds; the one with a bound in LOWER must not be below it.
LOWER = {"load to wait, cycles (median)"}
ROWS = [
    (fused("16x64x256", 8), FUSED + [("load to wait, cycles (median)", 800)]),
    (fused("16x32x256", 8), FUSED),
    (fused("16x32x512", 4), FUSED),
    (fused("32x64x256", 4, "32,2112,7168"), FUSED),
    (fused("64x128x256", 1, "512,2880,4096"), [("VALU a value", 2.0), ("vmcnt(0) in loop", 0)]),
    (("mxfp4_gemm_fused", tile("16x32x256") + ",split_k=1,waves=4,mfma=16,const_k=1", "16,2880,512"),
     [("instructions, whole kernel", 220)]),
    (("mxfp4_gemm_fused", tile("4x16x256") + ",split_k=1,waves=1,mfma=16,const_k=1", "4,2880,512"),
     [("instructions, whole kernel", 220)]),
    (("mxfp4_quant", "block_m=32,block_k=256,waves=1,shuffled=1,path=hw", "256,0,3072"),
     [("VALU a value, whole kernel", 1.9), ("barriers", 0), ("LDS bytes", 0)]),
    (large("256x256x256", None),
     [("VALU per 64 MFMA", 4), ("issue / MFMA cycles", 1.02), ("load to wait, cycles (median)", 900)]),
    (large("128x256x256"), [("issue / MFMA cycles", 1.02)] + LARGE),
    (large("128x128x256"), [("issue / MFMA cycles", 1.05)] + LARGE),
    (large("64x128x256"), [("issue / MFMA cycles", 1.05)]),
    (large("32x128x256"), [("issue / MFMA cycles", 1.10)]),
    (large("96x128x256"), UNEVEN),
    (large("160x256x256"), UNEVEN),
    (large("192x256x256"), UNEVEN),
    (large("128x512x256"), UNEVEN),
    (matmul("128x128x64", 4, "f16", 1, 3), [("VALU a unit", 0.05)] + MATMUL),
    (matmul("128x128x64", 4, "f16", 0, 3), [("VALU a unit", 0.10)] + MATMUL),
    (matmul("128x128x64", 4, "bf16", 0, 3), [("VALU a unit", 0.10)] + MATMUL),
    (matmul("128x128x64", 4, "i8", 0, 3), [("VALU a unit", 0.10)] + MATMUL),
    (matmul("64x128x64", 4, "f16", 0, 3), [("VALU a unit", 0.10)] + MATMUL),
    (matmul("128x64x64", 4, "f16", 0, 3), [("VALU a unit", 0.10)] + MATMUL),
    (matmul("256x256x32", 8, "f16", 1, 4), [("VALU a unit", 0.05)] + MATMUL),
    (matmul("256x256x32", 8, "f16", 0, 4), [("VALU a unit", 0.10)] + MATMUL),
    (attention(128, 0), [("VALU an element", 4.5), ("issue of VALU and MFMA / MFMA cycles", 0.85)] + ATTENTION),
    (attention(128, 1), [("VALU an element", 4.5), ("VALU an element, masked", 6.6)] + ATTENTION),
    (attention(128, 0, "f16"), [("VALU an element", 4.5)] + ATTENTION),
    (attention(128, 0, "fp8"), [("VALU an element", 4.5)] + ATTENTION),
    (attention(128, 1, "fp8"), [("VALU an element", 4.5), ("VALU an element, masked", 6.6)] + ATTENTION),
    (attention(64, 0, "fp8"), [("VALU an element", 4.0)] + ATTENTION),
    (attention(64, 0), [("VALU an element", 4.0)] + ATTENTION),
    (attention(64, 1), [("VALU an element", 4.0), ("VALU an element, masked", 6.6)] + ATTENTION),
    (("attention", "head=128,rotary=64,causal=0,element=bf16,block_m=128,block_n=64,waves=4,stages=2,mfma=32,waves_per_eu=1", "4096,4096,192"),
     [("VALU an element", 4.5), ("scratch", 0), ("vmcnt(0) in loop", 0)]),
    (("attention_decode", "head=128,element=fp8,block_m=32,block_n=128,split_k=4,waves=2,stages=2", "1,8192,128"),
     [("VALU an element", 4.5), ("VALU an element, masked", 6.6), ("scratch", 0), ("vmcnt(0) in loop", 0), ("barriers in loop, an iteration", 2)]),
    (("mla_decode", "block_m=64,block_n=64,split_k=1,waves=4,stages=2", "16,4096,576"),
     [("VALU an element", 8.5), ("scratch", 0), ("vmcnt(0) in loop", 0), ("barriers in loop, an iteration", 3)]),
    (("mla_decode", "block_m=64,block_n=32,split_k=1,waves=4,stages=2", "16,4096,576"),
     [("VALU an element", 13), ("scratch", 0), ("vmcnt(0) in loop", 0)]),
    (("attention_decode", "head=128,block_m=32,block_n=64,split_k=4,waves=2,stages=2", "1,8192,128"), DECODE),
    (("attention_decode", "head=128,block_m=32,block_n=64,split_k=4,page=64,waves=2,stages=2", "1,8192,128"), DECODE),
    (("attention_decode", "head=128,block_m=32,block_n=64,split_k=4,page=128,waves=2,stages=2", "1,8192,128"), DECODE),
]


def rms_norm(waves, k, more=""):
    return ("mxfp4_rmsnorm_quant", f"block_m=1,waves={waves}{more}", f"256,0,{k}")


ROWS += [
    (rms_norm(2, 4096), [("VALU a value of the rows", 9)]),
    (("mxfp4_rmsnorm_quant", "block_m=2,waves=4", "256,0,4096"), [("VALU a value of the rows", 9)]),
    (rms_norm(4, 4096), [("VALU a value of the rows", 11)]),
    (rms_norm(1, 2880), [("VALU a value of the rows", 9)]),
    (rms_norm(2, 2880), [("VALU a value of the rows", 10.5)]),
    (rms_norm(2, 7168), [("VALU a value of the rows", 9)]),
    (rms_norm(2, 4096, ",residual=0"), [("VALU a value of the rows", 7)]),
    (("mxfp4_act_quant", "block_m=32,block_k=128,waves=2,activation=silu", "256,0,2880"),
     [("VALU a value, whole kernel", 20)]),
    (("mxfp4_act_quant", "block_m=32,block_k=128,waves=2,activation=swiglu", "256,0,2880"),
     [("VALU a value, whole kernel", 24)]),
    (("moe_route", "block_m=4,experts=256,top_k=8,waves=1", "256,0,128"), [("VALU, whole kernel", 2600)]),
    (("moe_route", "block_m=4,experts=128,top_k=4,waves=1", "256,0,128"), [("VALU, whole kernel", 1400)]),
    (("rope_cache", "heads=64,kv_heads=8,head=128,waves=4", "256,0,128"), [("VALU, whole kernel", 150)]),
]

PER_VALUE = "VALU a value of the tile"
PLAIN_SCALES = [("VALU a unit", 0.05), ("vmcnt(0) in loop", 0)]
AUTHOR_ROWS = [
    (author("softmax", "columns=1024,waves=1"), [(PER_VALUE, 12)]),
    (author("softmax", "columns=1024,waves=1,fast=1"), [(PER_VALUE, 5)]),
    (author("softmax", "columns=2048,waves=1"), [(PER_VALUE, 11.5)]),
    (author("softmax", "columns=1024,waves=4"), [(PER_VALUE, 19.5)]),
    (author("softmax_masked", "columns=1024,waves=1"), [(PER_VALUE, 14.5)]),
    (author("layer_norm_f16", "columns=1024,waves=1"), [(PER_VALUE, 9.25)]),
    (author("layer_norm_f16", "columns=4096,waves=1"), [(PER_VALUE, 7.75)]),
    (author("layer_norm_f16", "rows=4,columns=1024,waves=1"), [(PER_VALUE, 7.5)]),
    (author("layer_norm_f16", "rows=4,columns=2048,waves=1"), [(PER_VALUE, 7)]),
    (author("layer_norm_bf16", "rows=4,columns=1024,waves=1"), [(PER_VALUE, 7.5)]),
    (author("hadamard", "columns=64,waves=1"), [("registers", 12), ("scratch", 0)]),
    (author("hadamard", "columns=128,waves=1"), [("registers", 16), ("scratch", 0)]),
    (author("hadamard", "columns=512,waves=1"), [("registers", 24), ("scratch", 0)]),
    (author("hadamard", "columns=4096,waves=1"), [("registers", 136), ("scratch", 0)]),
    (author("hadamard_f16", "columns=1024,waves=1"), [("registers", 48), ("scratch", 0)]),
    (author("scaled_product", "rows=128,columns=128,depth=256,waves=4"),
     [("scale loads a unit", 0.16)] + PLAIN_SCALES),
    (author("scaled_product", "rows=128,columns=128,depth=512,waves=4"),
     [("scale loads a unit", 0.16)] + PLAIN_SCALES),
    (author("scaled_product", "rows=128,columns=256,depth=512,waves=8"),
     [("scale loads a unit", 0.16)] + PLAIN_SCALES),
    (author("copy_rows", "rows=64,columns=64,waves=1"), [("loads and stores", 16)]),
]


# Milliseconds from trace to code object: about twice the slowest row on a quiet two-core server, so that a compiler
# that became slow shows and noise mostly does not.
COMPILE_BUDGET = {"mxfp4_quant": 150, "mxfp4_gemm_fused": 500, "mxfp4_gemm": 2500, "matmul": 2000, "attention": 2000, "attention_decode": 2000, "mla_decode": 2000,
                  "mxfp4_rmsnorm_quant": 300, "mxfp4_act_quant": 300, "moe_route": 600, "rope_cache": 300}
AUTHOR_BUDGET = {"scaled_product": 2500}
OTHER_AUTHOR_BUDGET = 200


def compile_ms(command, name, config, shape):
    """The best of three compilations without caches."""
    times = []
    for _ in range(3):
        with tempfile.NamedTemporaryFile() as out:
            answer = subprocess.run([command, "compile", name, "--config", config, "--shape", shape, "--emit",
                                     "hsaco", "-o", out.name, "--json"], check=True, capture_output=True,
                                    text=True, env={**os.environ, "NEREID_CACHE_DIR": "off"})
        times.append(sum(json.loads(answer.stdout)["jit_ms"].values()))
    return min(times)


def author_compile_ms(command, name, config):
    return min(AuthorKernel(command, name, config, "").compile_ms for _ in range(3))


def measure_times(command):
    lines = ["| kernel | config | budget, ms | measured |", "|---|---|---|---|"]
    within = True
    measured = [(name, config, COMPILE_BUDGET[name], compile_ms(command, name, config, shape))
                for (name, config, shape), _ in ROWS]
    measured += [(name, config, AUTHOR_BUDGET.get(name, OTHER_AUTHOR_BUDGET), author_compile_ms(command, name, config))
                 for (name, config, _), _ in AUTHOR_ROWS]
    for name, config, budget, value in measured:
        within &= value <= budget
        lines.append(f"| `{name}` | {config} | {budget} | {value:.0f}{'' if value <= budget else ' (beyond)'} |")
    return lines, within


def show(value):
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def measure(command):
    """The lines of the table and whether every figure is within its bound."""
    lines = ["| kernel | config | shape | figure | bound | counted |", "|---|---|---|---|---|---|"]
    within = True
    rows = [(Kernel, row, figures) for row, figures in ROWS]
    rows += [(AuthorKernel, row, figures) for row, figures in AUTHOR_ROWS]
    for kind, (name, config, shape), figures in rows:
        try:
            kernel = kind(command, name, config, shape)
        except subprocess.CalledProcessError as error:
            message = (error.stderr or b"").decode() if isinstance(error.stderr, bytes) else error.stderr
            lines.append(f"| `{name}` | {config} | {shape} | does not compile | | {message.strip().splitlines()[0]} |")
            within = False
            continue
        for figure, bound in figures:
            value = FIGURES[figure](kernel)
            good = value >= bound if figure in LOWER else value <= bound
            within &= good
            relation = ">=" if figure in LOWER else "<="
            lines.append(f"| `{name}` | {config} | {shape} | {figure} | {relation} {bound} | "
                         f"{show(value)}{'' if good else ' (beyond)'} |")
    return lines, within


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", default="build/bin/nereid")
    parser.add_argument("--write", help="a document whose table is replaced")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--times", action="store_true", help="compile times beside their budgets")
    options = parser.parse_args()
    lines, within = measure_times(options.command) if options.times else measure(options.command)
    print("\n".join(lines))
    if options.write and not options.times:
        with open(options.write) as file:
            text = file.read()
        head, tail = text.split(BEGIN)[0], text.split(END)[1]
        with open(options.write, "w") as file:
            file.write(head + BEGIN + "\n" + "\n".join(lines) + "\n" + END + tail)
    return 1 if options.check and not within else 0


if __name__ == "__main__":
    sys.exit(main())
