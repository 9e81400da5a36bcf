"""Code objects and their kernels: of `nereid aot`, hipcc, an assembler."""

import ctypes
import os
import weakref

from ._library import Argument, KernelInfo, LaunchShape, library
from .device import Array, default_device
from .errors import UserFault
from .operands import Call
from .tensors import is_tensor


class Module:
    """The kernels of a gfx950 code object: a path, or its bytes."""

    def __init__(self, code_object, device=None):
        native = library()
        self.device = device or default_device()
        if isinstance(code_object, (bytes, bytearray)):
            data = (ctypes.c_char * len(code_object)).from_buffer_copy(code_object)
            self._handle = native.made(native.module_load, self.device._handle, data, len(code_object))
        else:
            self._handle = native.made(native.module_load_file, self.device._handle, os.fsencode(code_object))
        self._unload = weakref.finalize(self, native.module_unload, self._handle)

    @property
    def kernel_names(self):
        native = library()
        return [native.module_kernel_name(self._handle, index).decode()
                for index in range(native.module_kernel_count(self._handle))]

    def kernel(self, name=None):
        """The kernel of that name, or the only one."""
        return Kernel(self, name)


class Kernel:
    """A kernel of a module."""

    def __init__(self, module, name=None):
        native = library()
        self.module = module
        self._handle = native.made(native.module_kernel, module._handle, None if name is None else name.encode())
        self._destroy = weakref.finalize(self, native.kernel_destroy, self._handle)

    @property
    def info(self):
        """Registers, LDS and the rest of the metadata, as a dict (nereid_kernel_info)."""
        info = KernelInfo(struct_size=ctypes.sizeof(KernelInfo))
        library().kernel_get_info(self._handle, ctypes.byref(info))
        return {name: getattr(info, name) for name, _ in KernelInfo._fields_[1:]}

    def launch(self, grid, block, *arguments, dynamic_lds=0, stream=None):
        """Launches `grid` workgroups of `block` work-items (each an int or up to three). Arguments are arrays and
        tensors, where host arrays are copied to the device and back, and values: int as i32, float as f32, others as
        ctypes or numpy scalars. Raises UserFault: they are not those of the metadata; DeviceFault: it faulted."""
        call = Call(self.module.device, stream)
        natives, values = (Argument * max(len(arguments), 1))(), []
        for native, argument in zip(natives, arguments):
            if isinstance(argument, Array) or is_tensor(argument):
                native.address, native.bytes = call.place(argument, writes=True).address, 8
            else:
                value = _value(argument)
                values.append(value)
                native.value, native.bytes = ctypes.addressof(value), ctypes.sizeof(value)
        shape = LaunchShape(_three(grid, "grid"), _three(block, "block"), dynamic_lds)
        library().kernel_launch(self._handle, call.stream_handle, ctypes.byref(shape), natives, len(arguments))
        call.finish()


def _three(extent, name):
    extents = (extent,) if isinstance(extent, int) else tuple(extent)
    if not 1 <= len(extents) <= 3 or any(not 0 <= size < 2**32 for size in extents):
        raise UserFault(f"{name} is {extent}", "Pass one to three sizes")
    return (ctypes.c_uint32 * 3)(*extents, *[1] * (3 - len(extents)))


def _value(value):
    if isinstance(value, bool):
        return ctypes.c_bool(value)
    if isinstance(value, int):
        if not -2**31 <= value < 2**31:
            raise UserFault(f"{value} is no i32", "Pass ctypes.c_int64, or a numpy scalar")
        return ctypes.c_int32(value)
    if isinstance(value, float):
        return ctypes.c_float(value)
    if isinstance(value, (ctypes._SimpleCData, ctypes.Structure)):
        return value
    if hasattr(value, "tobytes"):
        data = value.tobytes()
        return (ctypes.c_char * len(data)).from_buffer_copy(data)
    raise UserFault(f"{type(value).__name__} is no argument of a kernel",
                    "Pass an array, a number, a ctypes or a numpy scalar")
