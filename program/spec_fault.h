#pragma once

#include <optional>
#include <string>

#include "program/model_spec.h"

namespace logos {

/// What is wrong with a spec: `key` is the name of the fact in the text (`## Model`).
struct SpecFault {
  std::string key;
  std::string what;
  std::string got;
  std::string want;
};

/// The first bound that a spec breaks; `validate` throws it as an Error, the reader of texts names
/// its place.
std::optional<SpecFault> find_fault(const ModelSpec& spec);

}  // namespace logos
