#pragma once

#include <memory>

#include "spatial/network/network.h"

namespace logos::spatial {

/// The packet model: an event for each packet and router. A link is given to heads in the order in
/// which they arrive before it and carries one packet at a time; buffers have no end. For large
/// meshes and sweeps at moderate load: it knows no back-pressure inside the mesh, so `warning`
/// speaks where a link was busy for more than 60 % of the cycles in which the mesh was.
///
/// Zero load, trees and faults as the flit model's, but that no flits or credits can be lost:
/// Error. Closed cycles delay a packet's start on a link by as many.
std::unique_ptr<Network> make_packet_mesh(const MeshConfig& config, const MeshOptions& options);

}  // namespace logos::spatial
