#include "program/facts.h"

namespace logos {

Facts Facts::placeholder() const {
  Facts facts;
  facts.spec = spec;
  facts.cut = cut;
  facts.chips = chips;
  return facts;
}

}  // namespace logos
