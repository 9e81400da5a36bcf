"""Tensors of other libraries: numpy's array interface, and DLPack capsules, read without the library that made them."""

import ctypes

from .errors import UserFault

cpu, cuda_host, rocm, rocm_host = 1, 3, 10, 11
_kinds = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 6: "bool"}
_typestr = {"i": "int", "u": "uint", "f": "float", "b": "bool"}


class _DlTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype = ctypes.c_void_p
_get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


class View:
    """Contiguous memory of somebody else's: address, shape, dtype ("float32"), bytes, whether a GPU has it, whether it
    may be written. It keeps its owner alive."""

    def __init__(self, owner, address, shape, dtype, itemsize, on_gpu=False, device_id=0, writable=True):
        self.owner = owner
        self.address = address or 0
        self.shape = tuple(shape)
        self.dtype = dtype
        self.itemsize = itemsize
        self.on_gpu = on_gpu
        self.device_id = device_id
        self.writable = writable
        self.bytes = itemsize
        for extent in self.shape:
            self.bytes *= extent


def _check_contiguous(shape, strides):
    """Strides in elements are those of rows without gaps."""
    expected = 1
    for extent, stride in reversed(list(zip(shape, strides))):
        if extent > 1 and stride != expected:
            raise UserFault(f"a tensor with shape {tuple(shape)} has strides {tuple(strides)}",
                            "Pass a contiguous one (numpy.ascontiguousarray, tensor.contiguous())")
        expected *= extent


def _of_array_interface(array):
    interface = array.__array_interface__
    order, kind, size = interface["typestr"][0], interface["typestr"][1], int(interface["typestr"][2:])
    if kind not in _typestr or order == ">":
        raise UserFault(f"an array of dtype {interface['typestr']}", "Pass little-endian numbers")
    shape, strides = interface["shape"], interface.get("strides")
    if strides is not None:
        _check_contiguous(shape, [stride // size for stride in strides])
    address, read_only = interface["data"]
    dtype = "bool" if kind == "b" else f"{_typestr[kind]}{8 * size}"
    return View(array, address, shape, dtype, size, writable=not read_only)


def _of_dlpack(tensor, stream):
    device_type, device_id = tensor.__dlpack_device__()
    on_gpu = device_type == rocm
    if not on_gpu and device_type not in (cpu, cuda_host, rocm_host):
        raise UserFault(f"a tensor on DLPack device {device_type}", "Pass one in host memory or on an AMD GPU")
    capsule = tensor.__dlpack__(stream=stream) if on_gpu else tensor.__dlpack__()
    # The capsule is not consumed: it is kept, and gives the tensor back when it goes.
    data = _DlTensor.from_address(_get_pointer(capsule, b"dltensor"))
    if data.lanes != 1 or data.bits % 8 or data.code not in _kinds:
        raise UserFault(f"a tensor of DLPack type {data.code}, {data.bits} bits, {data.lanes} lanes")
    shape = data.shape[:data.ndim]
    if data.strides:
        _check_contiguous(shape, data.strides[:data.ndim])
    dtype = "bool" if data.code == 6 else f"{_kinds[data.code]}{data.bits}"
    return View((tensor, capsule), (data.data or 0) + data.byte_offset, shape, dtype, data.bits // 8, on_gpu, device_id)


def is_tensor(value):
    return hasattr(value, "__dlpack__") or _is_array(value)


def _is_array(value):
    return hasattr(value, "__array_interface__") and not getattr(value, "shape", None) == ()


def view(value, stream=0):
    """The memory of an array or tensor, for use on a stream (an integer hipStream_t). Raises UserFault: it is none, has
    gaps, or is on another kind of device."""
    if _is_array(value):
        return _of_array_interface(value)
    if hasattr(value, "__dlpack__"):
        return _of_dlpack(value, stream)
    raise UserFault(f"{type(value).__name__} is no tensor", "Pass a numpy array, a DLPack tensor or a nereid.Array")
