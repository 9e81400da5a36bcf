// Which device may access whose memory.
#include "hip_sim/entry.h"

namespace nereid::hip_sim {

hipError_t hipDeviceCanAccessPeer(int *can, int device, int peer) {
  return call(Entry::hipDeviceCanAccessPeer, [&](Runtime &hip, Lock &) {
    if (!can)
      return hipErrorInvalidValue;
    if (!device_at(hip, device) || !device_at(hip, peer))
      return hipErrorInvalidDevice;
    *can = device != peer;
    return hipSuccess;
  });
}

hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  return call(Entry::hipDeviceEnablePeerAccess, [&](Runtime &hip, Lock &) {
    Device &device = current_device(hip);
    if (flags)
      return hipErrorInvalidValue;
    if (!device_at(hip, peer) || peer == device.index)
      return hipErrorInvalidDevice;
    return device.peers.insert(peer).second ? hipSuccess : hipErrorPeerAccessAlreadyEnabled;
  });
}

hipError_t hipDeviceDisablePeerAccess(int peer) {
  return call(Entry::hipDeviceDisablePeerAccess, [&](Runtime &hip, Lock &) {
    if (!device_at(hip, peer))
      return hipErrorInvalidDevice;
    return current_device(hip).peers.erase(peer) ? hipSuccess : hipErrorPeerAccessNotEnabled;
  });
}

} // namespace nereid::hip_sim
