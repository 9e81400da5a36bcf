"""The arguments of a call: what is on the device already, and host arrays, which are copied there and back."""

from ._library import Memory
from .device import Array, Stream
from .errors import UserFault
from .tensors import view


class Call:
    """Operands of one call on a device. Host arrays are copied to the device, and those that it writes copied back by
    finish()."""

    def __init__(self, device, stream):
        if stream is not None and not isinstance(stream, Stream):
            stream = Stream(device, stream)
        self.device = device
        self.stream = stream
        self._placed = []
        self._written = []

    @property
    def stream_handle(self):
        return self.stream._handle if self.stream else None

    def place(self, value, writes=False, reads=True):
        """An Array or View of the device with what `value` holds."""
        if isinstance(value, Array):
            if value.device is not self.device:
                raise UserFault("an array of another device", "Upload it to the device of the call")
            return value
        seen = view(value, (self.stream.hip_stream or 0) if self.stream else 0)
        if seen.on_gpu:
            if self.device.is_simulator or seen.device_id != self.device.index:
                raise UserFault(f"a tensor of GPU {seen.device_id} in a call on {self.device.name}",
                                "Pass device=nereid.Device(\"hip\", index)")
            return seen
        if not reads and not seen.writable:
            raise UserFault("the output is read-only", "Pass one that may be written")
        placed = Array(self.device, seen.shape, seen.dtype)
        if reads:
            placed._write(seen)
        self._placed.append(placed)
        if writes and seen.writable:
            self._written.append((placed, seen))
        return placed

    def finish(self):
        """Waits where host arrays were used, and copies back."""
        if not self._placed:
            return
        if self.stream:
            self.stream.synchronize()
        else:
            self.device.synchronize()
        for placed, seen in self._written:
            placed._read(seen)


def memory_of(placed):
    return Memory(placed.address, placed.bytes)
