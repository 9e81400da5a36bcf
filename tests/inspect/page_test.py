#!/usr/bin/env python3
"""The page of nereid inspect in a headless Chromium: page_test.py NEREID EXAMPLE PROGRAMS TABLE OUT.

EXAMPLE is examples/inspect_kernel, PROGRAMS has the code objects that clang made of tests/sim/programs, TABLE is a
tuning table; pages and screenshots go to OUT. Exits with 77, which the tests take for skipped, where there is no Chromium."""

import json
import os
import shutil
import subprocess
import sys
import unittest

from browser import Browser

nereid, example, programs, table, out = (os.path.abspath(path) for path in sys.argv[1:6])
LIMIT = 2_000_000  # bytes of a page


def inspect(*arguments):
    path = os.path.join(out, arguments[-1])
    done = subprocess.run([nereid, "inspect", *arguments[:-1], "--html", path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return path


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.makedirs(out, exist_ok=True)
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def load(self, path):
        self.assertLess(os.path.getsize(path), LIMIT)
        self.browser.open(path)
        self.report = self.browser.run("return JSON.parse(document.getElementById('report').textContent)")
        self.assertEqual(self.browser.run("return performance.getEntriesByType('resource').length"), 0)
        return self.browser

    def sound(self):
        self.assertEqual(self.browser.problems(), [])

    def linked(self, rows):
        return self.browser.run("return [...document.querySelectorAll(arguments[0] + ' .row.linked')].map("
                                "(row) => Number(row.id.split('-').pop()))", rows)

    def busiest_place(self):
        """File and line from which the most instructions of the hot loop, or of all, come."""
        code = self.report["code"]
        if self.report["hot_loop"] is not None:
            loop = self.report["loops"][self.report["hot_loop"]]
            code = code[loop["first"]:loop["last"] + 1]
        places = [(i["file"], i["line"]) for i in code if "file" in i]
        return max(set(places), key=places.count)

    def check_linked_highlighting(self):
        browser = self.browser
        file, line = self.busiest_place()
        browser.run("[...document.querySelectorAll('[role=tab]')].find((tab) => tab.title === arguments[0]).click()",
                    self.report["files"][file]["path"])
        row = browser.run("return [...document.querySelectorAll(`#source-${arguments[0]} .row`)].find((row) => "
                          "row.firstChild.textContent === String(arguments[1])).id", file, line)
        browser.click("#" + row)
        expected = [i for i, instruction in enumerate(self.report["code"])
                    if (instruction.get("file"), instruction.get("line")) == (file, line)]
        self.assertEqual(self.linked("#isa"), expected)
        self.assertIn(f"{len(expected)} instruction", browser.run("return document.getElementById('selection').textContent"))
        # The first of them is in view.
        self.assertTrue(browser.run(
            "const box = document.getElementById('isa').getBoundingClientRect(), row = document.getElementById("
            "'isa-' + arguments[0]).getBoundingClientRect(); return row.top >= box.top && row.bottom <= box.bottom",
            expected[0]))
        # And back: the instruction's line lights up.
        browser.click(f"#isa-{expected[-1]}")
        self.assertIn(row, browser.run("return [...document.querySelectorAll('.rows.text .row.linked')].map((row) => row.id)"))
        # n goes to the next instruction of the line.
        browser.click(f"#isa-{expected[0]}")
        if len(self.linked("#isa")) > 1:
            browser.type("#isa", ["n"])
            self.assertEqual(browser.run("return [...document.querySelectorAll('#isa .row.current')].map((row) => row.id)"),
                             [f"isa-{self.linked('#isa')[1]}"])
        # The keyboard goes on from there.
        browser.type("#isa", ["Home", "ArrowDown"])
        self.assertEqual(browser.run("return document.getElementById('isa').getAttribute('aria-activedescendant')"), "isa-1")
        self.assertTrue(browser.run("return document.getElementById('isa-1').classList.contains('current')"))

    def span(self):
        return self.browser.run("const data = document.getElementById('timeline-canvas').dataset; return [Number(data.from), Number(data.to)]")

    def check_timeline(self):
        browser = self.browser
        browser.click("#zoom-all")
        first, last = self.span()
        self.assertEqual(first, 0)
        self.assertEqual(last, max(event[4] for event in self.report["run"]["timeline"]))
        browser.click("#zoom-in")
        self.assertAlmostEqual(self.span()[1] - self.span()[0], last / 2, delta=1)
        browser.wheel("#timeline-canvas", -200)
        zoomed = self.span()
        self.assertAlmostEqual(zoomed[1] - zoomed[0], last * 0.4, delta=last * 0.02)
        browser.drag("#timeline-canvas", 150)
        moved = self.span()
        self.assertLess(moved[0], zoomed[0])
        self.assertAlmostEqual(moved[1] - moved[0], zoomed[1] - zoomed[0], delta=1)
        # A step chooses an instruction, which the code shows.
        browser.type("#timeline-canvas", ["."])
        self.assertRegex(browser.run("return document.getElementById('timeline-readout').textContent"), r"wave \d+, clock \d+: ")
        self.assertEqual(browser.run("return document.querySelectorAll('#isa .row.current').length"), 1)

    def screenshots(self, name):
        browser = self.browser
        height = browser.run("return document.documentElement.scrollHeight")
        browser.run("scrollTo(0, 0)")
        browser.screenshot(os.path.join(out, name + ".png"), min(height + 100, 9000))
        browser.run("document.getElementById('theme').click()")
        browser.screenshot(os.path.join(out, name + "-dark.png"))
        browser.command("window/rect", {"width": 1500, "height": 1100})
        self.assertGreater(os.path.getsize(os.path.join(out, name + ".png")), 50_000)

    def sections(self):
        return self.browser.run("return [...document.querySelectorAll('section')].map((section) => section.id)")

    def check_layouts(self, operands):
        """As many operands of a matrix instruction are drawn, and a lane that is marked holds some of each."""
        drawings = self.browser.run("return document.querySelectorAll('#layout-drawing svg').length")
        self.assertEqual(drawings, operands)
        self.browser.type("#layout-lane", ["5"])
        chosen = self.browser.run("return [...document.querySelectorAll('#layout-drawing svg')].map("
                                  "(svg) => svg.querySelectorAll('rect.chosen').length)")
        self.assertTrue(all(chosen), chosen)

    def check_access_column(self):
        """Every access of global memory says its lines beside the instruction."""
        texts = self.browser.run("return [...document.querySelectorAll('#isa .access')].map((cell) => cell.textContent)")
        self.assertEqual(len(texts), len(self.report["code"]))
        for text, instruction in zip(texts, self.report["code"]):
            if "global" in instruction:
                self.assertRegex(text, r"^[\d.]+ lines \d+ %$")

    def check_pressure_limit(self):
        """The chart of live registers shows where one more wave fits, unless that is above all of it."""
        limit = next(each for each in self.report["occupancy"]["limits"] if each["what"] == "vector registers")
        live = max(max(instruction["live"]) for instruction in self.report["code"])
        expected = 0 < limit["next"] <= live and not self.report["resources"]["agpr"]
        self.assertEqual(self.browser.run("return document.getElementById('pressure-limit') !== null"), expected)

    def test_kernels_of_the_library(self):
        every = ["code", "loop", "stalls", "timeline", "occupancy", "memory", "layouts", "plan", "words"]
        with_tuning = every[:-1] + ["tuning", "words"]
        cases = [
            ("gemm", ["mxfp4_gemm_fused", "--shape", "16,2112,7168", "--table", table, "--key", "M=16,N=2112,K=7168"], with_tuning),
            ("attention", ["attention", "--shape", "512,512,128", "--numbers", "heads=8,key_heads=2"], every),
            ("moe_up", ["moe_up", "--shape", "64,512,512", "--numbers", "experts=8,top_k=2"], every),
        ]
        for name, arguments, sections in cases:
            with self.subTest(name):
                self.load(inspect(*arguments, name + ".html"))
                self.assertEqual(self.sections(), sections)
                self.check_linked_highlighting()
                self.check_timeline()
                self.check_layouts(3)
                self.check_access_column()
                self.check_pressure_limit()
                self.screenshots(name)
                self.sound()

    def test_operations_of_the_tile_ir(self):
        self.load(inspect("mxfp4_gemm_fused", "--shape", "16,2112,7168", "ir.html"))
        operation = next(i["operation"] for i in self.report["code"] if i["kind"] == "mfma")
        line = next(n for n, row in enumerate(self.report["tile_ir"]) if row.get("operation") == operation)
        self.assertIn("dot_scaled", self.report["tile_ir"][line]["text"])
        self.browser.run("[...document.querySelectorAll('[role=tab]')].find((tab) => tab.textContent === 'Tile IR').click()")
        self.browser.click(f"#tile-ir-{line}")
        self.assertEqual(self.linked("#isa"), [n for n, i in enumerate(self.report["code"]) if i.get("operation") == operation])
        self.sound()

    def test_softmax_of_an_example(self):
        path = os.path.join(out, "softmax.html")
        subprocess.run([example, path], check=True, stdout=subprocess.DEVNULL)
        self.load(path)
        self.assertEqual(self.report["kernel"], "softmax")
        self.assertEqual(self.sections(), ["code", "loop", "stalls", "timeline", "occupancy", "memory", "layouts", "plan", "words"])
        self.check_linked_highlighting()
        self.check_timeline()
        self.screenshots("softmax")
        self.sound()

    def test_code_object_of_clang(self):
        launch = {"code_object": os.path.join(programs, "lds.O3.hsaco"), "kernel": "matrix_product", "grid": [4, 4, 1],
                  "block": [16, 16, 1], "buffers": {name: {"size": 16384, "fill": 0} for name in "abc"},
                  "values": [{"buffer": "a"}, {"buffer": "b"}, {"buffer": "c"}, {"u32": 64}]}
        path = os.path.join(out, "launch.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(launch, file)
        self.load(inspect(path, "clang.html"))
        self.assertEqual(self.sections(), ["code", "loop", "stalls", "timeline", "occupancy", "memory", "words"])
        self.assertTrue(any(file["path"].endswith("lds.cl") and file["lines"] for file in self.report["files"]))
        self.check_linked_highlighting()
        self.check_timeline()
        # The banks of an LDS instruction: those of the first execution's 64 lanes.
        self.browser.run("[...document.querySelectorAll('#memory button')].pop().click()")
        self.assertGreater(self.browser.run("return document.querySelectorAll('#banks rect title').length"), 63)
        self.screenshots("clang")
        self.sound()

    def test_code_object_alone(self):
        self.load(inspect(os.path.join(programs, "matrix.O3.hsaco"), "--kernel", "block_product_f16", "object.html"))
        self.assertEqual(self.sections(), ["code", "loop", "occupancy", "words"])
        self.check_linked_highlighting()
        self.sound()

    def test_comparison(self):
        path = os.path.join(out, "diff.html")
        done = subprocess.run([nereid, "inspect", "--diff", "mxfp4_gemm_fused:block_n=32", "mxfp4_gemm_fused:block_n=64",
                               "--shape", "16,2112,7168", "--html", path], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.load(path)
        self.assertEqual(self.sections(), ["figures", "code"])
        self.assertIn("block_n: 32 → 64", self.browser.run("return document.querySelector('header').textContent"))
        self.assertEqual(self.browser.run("return document.querySelectorAll('.diff div').length"), len(self.report["code"]))
        self.screenshots("diff")
        self.sound()


if __name__ == "__main__":
    if not shutil.which("chromedriver"):
        print("there is no chromedriver: scripts/setup --browser installs it", file=sys.stderr)
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]], verbosity=2)
