#pragma once

#include <cstdint>

#include "rtl/board/engine_log.h"

namespace logos::d5005 {

/// What an EngineLog looks at, from inside a Verilated engine. These are registers of the design
/// (rtl/design: engine_registers, dispatcher, unit_queue), which a model keeps as they are under
/// the names of their instances; nothing has to be made public for it, so the model is the same.
template <typename Model>
EngineSight sight_of(const Model& model) {
  const auto& root = *model.rootp;
  EngineSight sight;
  sight.events = root.engine__DOT__u_registers__DOT__event_q;
  sight.started = {root.engine__DOT__u_dispatcher__DOT__u_rows__DOT__started_q,
                   root.engine__DOT__u_dispatcher__DOT__u_product__DOT__started_q,
                   root.engine__DOT__u_dispatcher__DOT__u_heads__DOT__started_q,
                   root.engine__DOT__u_dispatcher__DOT__u_attend__DOT__started_q,
                   root.engine__DOT__u_dispatcher__DOT__u_store__DOT__started_q};
  for (std::size_t u = 0; u < kUnits; ++u) {  // 16 bits each
    const std::uint32_t word = root.engine__DOT__u_dispatcher__DOT__ended_q[u / 2];
    sight.ended[u] = static_cast<std::uint16_t>(word >> (16 * (u % 2)));
  }
  return sight;
}

}  // namespace logos::d5005
