"""Nereid's kernels for AMD gfx950 from Python: on a GPU, or on the simulator. docs/python.md."""

from ._library import library as _library
from .device import Array, Device, Stream, default_device, devices
from .errors import DeviceFault, EnvironmentFault, Error, NereidFault, UserFault
from .module import Kernel, Module
from .mxfp4 import Mxfp4Linear, from_bf16, mxfp4_linear, quant, shuffle_b, shuffle_scales, to_bf16

__all__ = ["Array", "Device", "DeviceFault", "EnvironmentFault", "Error", "Kernel", "Module", "Mxfp4Linear",
           "NereidFault", "Stream", "UserFault", "default_device", "devices", "from_bf16", "mxfp4_linear", "quant",
           "shuffle_b", "shuffle_scales", "to_bf16", "version"]


def version():
    """The version of the library, "0.1.0"."""
    return _library().version().decode()
