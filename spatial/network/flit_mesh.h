#pragma once

#include <memory>

#include "spatial/network/network.h"

namespace logos::spatial {

/// The flit model: routers with virtual channels, finite buffers and credits, stepped cycle by
/// cycle while anything moves; a router with nothing in it costs nothing.
///
/// A head is routed, claims a channel of the next router, and its flits pass the switch and the
/// link one a cycle. Both claims are granted in turn (round robin, outputs first, then inputs, as
/// iSLIP with one iteration). Virtual cut-through: a head claims a channel only where the whole
/// packet has room, so that a packet which has begun to move never waits in the middle for others.
/// A credit is back 2 cycles after its flit has passed the switch.
///
/// A packet to several tiles is copied in routers: each branch claims its own channel and goes at
/// its own pace; the packet's place is free when all have passed. No set of packets can wait for
/// each other in a circle: a packet holds only its place in buffers, and waits only for
/// room further along x-then-y ways, which end in tiles that always take. (With channels shorter
/// than packets a blocked branch would hold its sister's next link, and circles would exist.)
///
/// Throws Error for a configuration that no mesh can have.
std::unique_ptr<Network> make_flit_mesh(const MeshConfig& config, const MeshOptions& options);

}  // namespace logos::spatial
