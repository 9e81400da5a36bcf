"""Devices, streams, and arrays in device memory."""

import ctypes
import weakref

from ._library import library
from .errors import Error, UserFault
from .tensors import View, view

_itemsize = {"bool": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "float16": 2, "bfloat16": 2, "int32": 4,
             "uint32": 4, "float32": 4, "int64": 8, "uint64": 8, "float64": 8}


class Device:
    """"auto" (the first gfx950 GPU, else the simulator), "hip" (GPU number `index`) or "sim" (one of its own)."""

    def __init__(self, name="auto", index=0):
        native = library()
        self._handle = native.made(native.device_open, name.encode(), index)
        self._close = weakref.finalize(self, native.device_close, self._handle)
        self.index = index
        self._linear = None  # of mxfp4_linear

    @property
    def name(self):
        return library().device_name(self._handle).decode()

    @property
    def is_simulator(self):
        return bool(library().device_is_simulator(self._handle))

    def synchronize(self):
        """Waits for all streams. Raises DeviceFault: a launch faulted."""
        library().device_synchronize(self._handle)

    def stream(self, hip_stream=None):
        """A new stream, or one of the caller's: an integer hipStream_t (torch.cuda.Stream.cuda_stream)."""
        return Stream(self, hip_stream)

    def empty(self, shape, dtype):
        """An Array with undefined content; dtype as numpy spells it, or "bfloat16"."""
        return Array(self, shape, dtype)

    def upload(self, values):
        """An Array with what a numpy array or a DLPack tensor in host memory holds."""
        source = view(values)
        if source.on_gpu:
            raise UserFault("the tensor is on a GPU already", "Pass it as it is")
        array = Array(self, source.shape, source.dtype)
        array._write(source)
        return array

    def __repr__(self):
        return f"<nereid.Device {self.name!r}>"


class Stream:
    """Work in order; unordered with other streams."""

    def __init__(self, device, hip_stream=None):
        native = library()
        self.device = device
        self.hip_stream = hip_stream
        if hip_stream is None:
            self._handle = native.made(native.stream_create, device._handle)
        else:
            self._handle = native.made(native.stream_wrap, device._handle, hip_stream)
        self._destroy = weakref.finalize(self, native.stream_destroy, self._handle)

    def synchronize(self):
        library().stream_synchronize(self._handle)


class Array:
    """A contiguous array in device memory, with shape and dtype."""

    def __init__(self, device, shape, dtype):
        if dtype not in _itemsize:
            raise UserFault(f"there is no dtype {dtype!r}", "One of " + ", ".join(_itemsize))
        native = library()
        self.device = device
        self.shape = (shape,) if isinstance(shape, int) else tuple(shape)
        self.dtype = dtype
        self.itemsize = _itemsize[dtype]
        self.bytes = self.itemsize
        for extent in self.shape:
            self.bytes *= extent
        self._handle = native.made(native.buffer_create, device._handle, self.bytes)
        self._destroy = weakref.finalize(self, native.buffer_destroy, self._handle)

    @property
    def address(self):
        return library().buffer_memory(self._handle).address

    def _write(self, source: View):
        library().buffer_write(self._handle, 0, source.address, source.bytes)

    def _read(self, target: View):
        library().buffer_read(self._handle, 0, target.address, target.bytes)

    def fill(self, byte):
        """Sets every byte."""
        library().buffer_fill(self._handle, byte)

    def copy_to(self, target):
        """Copies all of it to a host array of the same size, after what the default stream holds."""
        to = view(target)
        if to.on_gpu or not to.writable or to.bytes != self.bytes:
            raise UserFault(f"{self.bytes} bytes cannot be copied to this tensor of {to.bytes}",
                            "Pass a writable one of the same size in host memory")
        self._read(to)

    def numpy(self):
        """A copy as a numpy array; bfloat16 as its bits in uint16."""
        import numpy
        copy = numpy.empty(self.shape, "uint16" if self.dtype == "bfloat16" else self.dtype)
        self._read(view(copy))
        return copy


_default = None


def default_device():
    """The device of calls that name none: Device("auto"), opened once."""
    global _default
    if _default is None:
        _default = Device("auto")
    return _default


def devices():
    """What can be opened here: each GPU, then the simulator."""
    found = []
    while True:
        try:
            found.append(Device("hip", len(found)))
        except Error:
            return found + [Device("sim")]
