"""The Python package on the simulator: values, errors, DLPack. Run with NEREID_LIBRARY and NEREID_SAXPY_OBJECT."""

import ctypes
import os
import unittest

import numpy

import nereid

e2m1 = numpy.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], "float32")
device = nereid.Device("sim")


def codes_of(rows, k, factor):
    """Codes 0 to 15 in every group of 32: quantising their values changes nothing, for the largest is 6."""
    return (numpy.arange(rows)[:, None] + factor * numpy.arange(k)[None, :]) % 16


def packed(codes):
    return (codes[:, 0::2] | codes[:, 1::2] << 4).astype("uint8")


class DlpackOnly:
    """A tensor of a library that has DLPack and nothing else."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, stream=None):
        return self._array.__dlpack__()

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


class OnAnotherDevice(DlpackOnly):
    def __init__(self, array, device_type):
        super().__init__(array)
        self.device_type = device_type

    def __dlpack_device__(self):
        return (self.device_type, 0)


class Linear(unittest.TestCase):
    m, n, k = 24, 32, 96

    def setUp(self):
        a, b = codes_of(self.m, self.k, 3), codes_of(self.n, self.k, 5)
        exponents = numpy.arange(self.n * self.k // 32).reshape(self.n, -1) % 2
        self.a = nereid.to_bf16(e2m1[a])
        self.b = nereid.shuffle_b(packed(b))
        self.scales = nereid.shuffle_scales((127 - exponents).astype("uint8"))
        scaled = e2m1[b] * numpy.repeat(2.0 ** -exponents, 32, axis=1).astype("float32")
        self.expected = nereid.to_bf16(e2m1[a] @ scaled.T)  # exact in f32

    def test_of_numpy_arrays(self):
        for path in ("auto", "fused", "staged"):
            c = nereid.mxfp4_linear(self.a, self.b, self.scales, path=path, device=device)
            numpy.testing.assert_array_equal(c, self.expected)

    def test_of_dlpack_tensors_into_one(self):
        out = numpy.zeros((self.m, self.n), "uint16")
        result = nereid.mxfp4_linear(DlpackOnly(self.a), DlpackOnly(self.b), DlpackOnly(self.scales), DlpackOnly(out),
                                     device=device)
        self.assertIsInstance(result, DlpackOnly)
        numpy.testing.assert_array_equal(out, self.expected)

    def test_of_arrays_on_the_device(self):
        b, scales = device.upload(self.b), device.upload(self.scales)
        out = device.empty((self.m, self.n), "bfloat16")
        stream = device.stream()
        self.assertIs(nereid.Mxfp4Linear(device)(device.upload(self.a), b, scales, out, stream=stream), out)
        stream.synchronize()
        numpy.testing.assert_array_equal(out.numpy(), self.expected)

    def test_refusals_say_whose_fault_and_what_to_do(self):
        with self.assertRaisesRegex(nereid.UserFault, "user error: a has 64 columns.* 96 columns"):
            nereid.mxfp4_linear(self.a[:, :64].copy(), self.b, self.scales, device=device)
        with self.assertRaisesRegex(nereid.UserFault, "strides.*ascontiguousarray"):
            nereid.mxfp4_linear(self.a[:, ::2], self.b, self.scales, device=device)
        with self.assertRaisesRegex(nereid.UserFault, "a is float32"):
            nereid.mxfp4_linear(nereid.from_bf16(self.a), self.b, self.scales, device=device)
        with self.assertRaisesRegex(nereid.UserFault, "there is no path 'best'"):
            nereid.mxfp4_linear(self.a, self.b, self.scales, path="best", device=device)
        with self.assertRaisesRegex(nereid.UserFault, "scales") as short:
            nereid.mxfp4_linear(self.a, self.b, self.scales[:8].copy(), device=device)
        self.assertEqual(short.exception.owner, "user")
        self.assertIsInstance(short.exception, ValueError)
        fixed = numpy.zeros((self.m, self.n), "uint16")
        fixed.flags.writeable = False
        with self.assertRaisesRegex(nereid.UserFault, "read-only"):
            nereid.mxfp4_linear(self.a, self.b, self.scales, fixed, device=device)
        with self.assertRaisesRegex(nereid.UserFault, "another device"):
            nereid.mxfp4_linear(nereid.Device("sim").upload(self.a), self.b, self.scales, device=device)

    def test_tensors_elsewhere_are_refused(self):
        with self.assertRaisesRegex(nereid.UserFault, "DLPack device 2"):
            nereid.mxfp4_linear(OnAnotherDevice(self.a, 2), self.b, self.scales, device=device)
        with self.assertRaisesRegex(nereid.UserFault, "GPU 0 in a call on gfx950 simulator"):
            nereid.mxfp4_linear(OnAnotherDevice(self.a, 10), self.b, self.scales, device=device)
        with self.assertRaisesRegex(nereid.UserFault, "list is no tensor"):
            nereid.mxfp4_linear([1], self.b, self.scales, device=device)


class Quant(unittest.TestCase):
    def test_values_that_fp4_has_are_exact(self):
        codes = codes_of(20, 64, 3)
        found, scales = nereid.quant(nereid.to_bf16(4 * e2m1[codes]), device=device)
        # -0 has the code 8 as it had before.
        numpy.testing.assert_array_equal(found, packed(codes))
        numpy.testing.assert_array_equal(scales, numpy.full((20, 2), 129))

    def test_shuffled_scales_are_those_of_the_host(self):
        x = nereid.to_bf16(numpy.random.default_rng(1).standard_normal((20, 64)).astype("float32"))
        codes, plain = nereid.quant(x, device=device)
        same_codes, shuffled = nereid.quant(x, shuffled=True, device=device)
        numpy.testing.assert_array_equal(codes, same_codes)
        numpy.testing.assert_array_equal(shuffled, nereid.shuffle_scales(plain))

    def test_bad_sizes_come_from_the_library(self):
        with self.assertRaisesRegex(nereid.UserFault, "user error"):
            nereid.quant(numpy.zeros((4, 31), "uint16"), device=device)
        with self.assertRaisesRegex(nereid.UserFault, "uint8 matrix"):
            nereid.shuffle_b(numpy.zeros((16, 16), "float32"))
        with self.assertRaises(nereid.UserFault):
            nereid.shuffle_b(numpy.zeros((15, 16), "uint8"))


class Conversions(unittest.TestCase):
    def test_bf16_rounds_to_nearest_even_and_keeps_specials(self):
        values = numpy.array([1, 1 + 2**-8, 1 + 3 * 2**-8, -0.0, numpy.inf], "float32")
        numpy.testing.assert_array_equal(nereid.to_bf16(values), [0x3F80, 0x3F80, 0x3F82, 0x8000, 0x7F80])
        self.assertTrue(numpy.isnan(nereid.from_bf16(nereid.to_bf16(numpy.float32(numpy.nan)))))


class Modules(unittest.TestCase):
    def setUp(self):
        self.path = os.environ["NEREID_SAXPY_OBJECT"]

    def test_launches_with_numpy_arrays_and_numbers(self):
        kernel = nereid.Module(self.path, device).kernel()
        n = 1000
        x, y = numpy.arange(n, dtype="float32"), numpy.ones(n, "float32")
        kernel.launch((n + 255) // 256, 256, x, y, 2.0, n)
        numpy.testing.assert_array_equal(y, 2 * x + 1)
        kernel.launch(4, 256, DlpackOnly(x), DlpackOnly(y), numpy.float32(-2), ctypes.c_int32(n))
        numpy.testing.assert_array_equal(y, numpy.ones(n))

    def test_says_what_the_metadata_says(self):
        with open(self.path, "rb") as file:
            module = nereid.Module(file.read(), device)
        kernel = module.kernel(module.kernel_names[0])
        self.assertEqual(kernel.info["vgprs"], 4)
        self.assertEqual(kernel.info["argument_count"], 4)

    def test_refusals(self):
        module = nereid.Module(self.path, device)
        with self.assertRaisesRegex(nereid.UserFault, module.kernel_names[0]):
            module.kernel("missing")
        with self.assertRaises(nereid.UserFault):
            module.kernel().launch(1, 64, 1.0)
        with self.assertRaisesRegex(nereid.UserFault, "no argument of a kernel"):
            module.kernel().launch(1, 64, "text")
        with self.assertRaisesRegex(nereid.UserFault, "is no i32"):
            module.kernel().launch(1, 64, 2**40)
        with self.assertRaisesRegex(nereid.UserFault, "grid is"):
            module.kernel().launch((1, 1, 1, 1), 64)
        with self.assertRaises(nereid.UserFault):
            nereid.Module(b"no code object", device)
        with self.assertRaises(nereid.Error):
            nereid.Module("/missing.hsaco", device)


class Devices(unittest.TestCase):
    def test_are_named(self):
        self.assertEqual(device.name, "gfx950 simulator")
        self.assertTrue(device.is_simulator)
        self.assertTrue(nereid.devices()[-1].is_simulator)
        with self.assertRaisesRegex(nereid.UserFault, "cuda"):
            nereid.Device("cuda")

    def test_arrays_keep_what_was_uploaded(self):
        values = numpy.arange(12, dtype="int64").reshape(3, 4)
        array = device.upload(values)
        numpy.testing.assert_array_equal(array.numpy(), values)
        array.fill(1)
        target = numpy.empty((3, 4), "int64")
        array.copy_to(target)
        numpy.testing.assert_array_equal(target, numpy.full((3, 4), 0x0101010101010101))
        with self.assertRaisesRegex(nereid.UserFault, "cannot be copied"):
            array.copy_to(numpy.empty(3, "int64"))
        with self.assertRaisesRegex(nereid.UserFault, "no dtype 'float8'"):
            device.empty(3, "float8")


if __name__ == "__main__":
    unittest.main()
