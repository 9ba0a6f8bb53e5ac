#include "sim/reference/scalar.h"
