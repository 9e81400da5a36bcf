"""The MXFP4 operations. Formats and orders: docs/kernels.md. bf16 is bfloat16 or its bits in uint16 (to_bf16)."""

import ctypes
import weakref

from ._library import LinearOperands, library
from .device import default_device
from .errors import UserFault
from .operands import Call, memory_of
from .tensors import view

_paths = {"auto": 0, "fused": 1, "atomic": 2, "workspace": 3, "staged": 4}


def to_bf16(values):
    """float32 rounded to bf16 (to nearest, ties to even), as its bits in uint16."""
    import numpy
    values = numpy.ascontiguousarray(values, "float32")
    bits = values.view("uint32")
    rounded = ((bits + (0x7FFF + ((bits >> 16) & 1))) >> 16).astype("uint16")
    return numpy.where(numpy.isnan(values), ((bits >> 16) | 0x40).astype("uint16"), rounded)


def from_bf16(bits):
    """The float32 of bf16 bits in uint16."""
    import numpy
    return (numpy.ascontiguousarray(bits, "uint16").astype("uint32") << 16).view("float32")


def _matrix(placed, name, dtypes):
    if len(placed.shape) != 2 or placed.dtype not in dtypes:
        raise UserFault(f"{name} is {placed.dtype} {list(placed.shape)}", f"Pass a matrix of {' or '.join(dtypes)}")
    return placed.shape


def _host_bytes(values, name):
    seen = view(values)
    if seen.on_gpu or seen.dtype != "uint8" or len(seen.shape) != 2:
        raise UserFault(f"{name} is {seen.dtype} {list(seen.shape)}", "Pass a uint8 matrix in host memory")
    return seen


def shuffle_b(codes):
    """e2m1 codes [n, k/2] on the host in (16,16)-shuffled order, uint8 of the same shape. n is a multiple of 16, k of
    32."""
    import numpy
    seen = _host_bytes(codes, "codes")
    n, k = seen.shape[0], 2 * seen.shape[1]
    shuffled = numpy.empty((n, k // 2), "uint8")
    library().mxfp4_shuffle_b(n, k, seen.address, shuffled.ctypes.data)
    return shuffled


def shuffle_scales(scales):
    """e8m0 scales [rows, k/32] on the host in shuffled, padded order, uint8 of one dimension."""
    import numpy
    seen = _host_bytes(scales, "scales")
    rows, k = seen.shape[0], 32 * seen.shape[1]
    shuffled = numpy.empty(library().mxfp4_shuffled_scale_bytes(rows, k), "uint8")
    library().mxfp4_shuffle_scales(rows, k, seen.address, shuffled.ctypes.data)
    return shuffled


def _output(out, shape, dtype):
    if out is not None:
        return out
    import numpy
    return numpy.empty(shape, dtype)


def quant(x, codes=None, scales=None, *, shuffled=False, device=None, stream=None):
    """bf16 [m, k] to MXFP4: (codes uint8 [m, k/2], scales uint8 [m, k/32], or shuffled ones of one dimension whose
    padding is 127). Outputs that are not given are numpy arrays."""
    call = Call(device or default_device(), stream)
    placed = call.place(x)
    m, k = _matrix(placed, "x", ("bfloat16", "uint16"))
    codes = _output(codes, (m, k // 2), "uint8")
    if scales is None:
        size = library().mxfp4_shuffled_scale_bytes(m, k)
        scales = _output(None, (size,) if shuffled else (m, k // 32), "uint8")
        scales[...] = 127
    to_codes, to_scales = call.place(codes, writes=True, reads=False), call.place(scales, writes=True)
    library().mxfp4_quant(call.device._handle, call.stream_handle, m, k, int(shuffled), memory_of(placed),
                          memory_of(to_codes), memory_of(to_scales))
    call.finish()
    return codes, scales


class Mxfp4Linear:
    """C = A times B transposed, A quantised to MXFP4 on the way. It keeps a workspace for each stream."""

    def __init__(self, device=None):
        native = library()
        self.device = device or default_device()
        self._handle = native.made(native.mxfp4_linear_create, self.device._handle)
        self._destroy = weakref.finalize(self, native.mxfp4_linear_destroy, self._handle)

    def __call__(self, a, b, b_scales, out=None, *, path="auto", stream=None):
        """a: bf16 [m, k]; b: uint8 [n, k/2], shuffled (shuffle_b); b_scales: uint8, shuffled (shuffle_scales); out: bf16
        [m, n]. The output is `out`, or a new numpy array with bf16's bits. path: "auto", "fused", "atomic",
        "workspace", "staged". Raises UserFault: sizes or types that do not fit."""
        if path not in _paths:
            raise UserFault(f"there is no path {path!r}", "One of " + ", ".join(_paths))
        call = Call(self.device, stream)
        on_device = [call.place(a), call.place(b), call.place(b_scales)]
        m, k = _matrix(on_device[0], "a", ("bfloat16", "uint16"))
        n, half_k = _matrix(on_device[1], "b", ("uint8",))
        if 2 * half_k != k:
            raise UserFault(f"a has {k} columns, b {half_k} bytes a row, which are {2 * half_k} columns")
        out = _output(out, (m, n), "uint16")
        on_device.append(call.place(out, writes=True, reads=False))
        if _matrix(on_device[3], "out", ("bfloat16", "uint16")) != (m, n):
            raise UserFault(f"out is {list(on_device[3].shape)}", f"The product is {[m, n]}")
        operands = LinearOperands(*[memory_of(placed) for placed in on_device])
        library().mxfp4_linear_run(self._handle, call.stream_handle, m, n, k, _paths[path], ctypes.byref(operands))
        call.finish()
        return out


def mxfp4_linear(a, b, b_scales, out=None, *, path="auto", device=None, stream=None):
    """One Mxfp4Linear for each device, made at its first call: see Mxfp4Linear.__call__."""
    device = device or default_device()
    if device._linear is None:
        device._linear = Mxfp4Linear(device)
    return device._linear(a, b, b_scales, out, path=path, stream=stream)
