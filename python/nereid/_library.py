"""libnereid.so by ctypes: where it is, its structs and functions, and its errors as exceptions."""

import ctypes
import os
import pathlib

from .errors import EnvironmentFault, error_of

c_api_version = 1
_file = f"libnereid.so.{c_api_version}"

Handle = ctypes.c_void_p


class ErrorInfo(ctypes.Structure):
    _fields_ = [("owner", ctypes.c_int32), ("message", ctypes.c_char_p), ("remedy", ctypes.c_char_p),
                ("where", ctypes.c_char_p)]


class Memory(ctypes.Structure):
    _fields_ = [("address", ctypes.c_uint64), ("bytes", ctypes.c_uint64)]


class LinearOperands(ctypes.Structure):
    _fields_ = [("a", Memory), ("b", Memory), ("b_scales", Memory), ("c", Memory)]


class KernelInfo(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint64)] + [
        (name, ctypes.c_uint32) for name in ("vgprs", "agprs", "sgprs", "lds", "scratch", "spills", "occupancy",
                                             "kernarg_size", "argument_count", "max_workgroup_size")]


class LaunchShape(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint32 * 3), ("block", ctypes.c_uint32 * 3), ("dynamic_lds", ctypes.c_uint32)]


class Argument(ctypes.Structure):
    _fields_ = [("address", ctypes.c_uint64), ("value", ctypes.c_void_p), ("bytes", ctypes.c_uint64)]


_i32, _i64, _u8, _u32, _u64 = (ctypes.c_int32, ctypes.c_int64, ctypes.c_uint8, ctypes.c_uint32, ctypes.c_uint64)
_text, _void, _out = ctypes.c_char_p, ctypes.c_void_p, ctypes.POINTER(Handle)

# Functions with a status: its name without nereid_, its arguments.
_checked = {
    "device_open": (_text, _i32, _out),
    "device_synchronize": (Handle,),
    "stream_create": (Handle, _out),
    "stream_wrap": (Handle, _void, _out),
    "stream_synchronize": (Handle,),
    "buffer_create": (Handle, _u64, _out),
    "buffer_write": (Handle, _u64, _void, _u64),
    "buffer_read": (Handle, _u64, _void, _u64),
    "buffer_fill": (Handle, _u8),
    "mxfp4_shuffle_b": (_i64, _i64, _void, _void),
    "mxfp4_shuffle_scales": (_i64, _i64, _void, _void),
    "mxfp4_quant": (Handle, Handle, _i64, _i64, _i32, Memory, Memory, Memory),
    "mxfp4_linear_create": (Handle, _out),
    "mxfp4_linear_run": (Handle, Handle, _i64, _i64, _i64, _i32, ctypes.POINTER(LinearOperands)),
    "module_load": (Handle, _void, _u64, _out),
    "module_load_file": (Handle, _text, _out),
    "module_kernel": (Handle, _text, _out),
    "kernel_get_info": (Handle, ctypes.POINTER(KernelInfo)),
    "kernel_launch": (Handle, Handle, ctypes.POINTER(LaunchShape), ctypes.POINTER(Argument), _u32),
}

# Functions without: result, arguments.
_plain = {
    "c_api_version": (_u32, ()),
    "version": (_text, ()),
    "last_error": (ctypes.POINTER(ErrorInfo), ()),
    "device_close": (None, (Handle,)),
    "device_name": (_text, (Handle,)),
    "device_is_simulator": (_i32, (Handle,)),
    "stream_destroy": (None, (Handle,)),
    "buffer_destroy": (None, (Handle,)),
    "buffer_memory": (Memory, (Handle,)),
    "mxfp4_shuffled_b_bytes": (_u64, (_i64, _i64)),
    "mxfp4_shuffled_scale_bytes": (_u64, (_i64, _i64)),
    "mxfp4_linear_destroy": (None, (Handle,)),
    "module_unload": (None, (Handle,)),
    "module_kernel_count": (_u32, (Handle,)),
    "module_kernel_name": (_text, (Handle, _u32)),
    "kernel_destroy": (None, (Handle,)),
}


def _open():
    named = os.environ.get("NEREID_LIBRARY")
    bundled = pathlib.Path(__file__).with_name(_file)
    path = named or (str(bundled) if bundled.exists() else _file)
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        raise EnvironmentFault(f"cannot load {path}: {error}",
                               "Name libnereid.so in NEREID_LIBRARY, or install libnereid") from None


class _Library:
    """Each function as an attribute; those with a status raise what nereid_last_error says."""

    def __init__(self):
        library = _open()
        for name, (result, arguments) in _plain.items():
            setattr(self, name, self._function(library, name, result, arguments))
        found = self.c_api_version()
        if found != c_api_version:
            raise EnvironmentFault(f"libnereid.so has version {found} of the C API, this package needs {c_api_version}",
                                   "Install the package and the library of the same version")
        for name, arguments in _checked.items():
            setattr(self, name, self._raising(self._function(library, name, _i32, arguments)))

    @staticmethod
    def _function(library, name, result, arguments):
        function = getattr(library, "nereid_" + name)
        function.restype = result
        function.argtypes = arguments
        return function

    def _raising(self, function):
        def call(*arguments):
            if function(*arguments) != 0:
                error = self.last_error().contents
                raise error_of(error.owner, error.message.decode(), error.remedy.decode(), error.where.decode())
        return call

    @staticmethod
    def made(create, *arguments):
        """The handle that a function makes in its last argument."""
        handle = Handle()
        create(*arguments, ctypes.byref(handle))
        return handle


_library = None


def library():
    """The library, loaded when it is first used."""
    global _library
    if _library is None:
        _library = _Library()
    return _library
