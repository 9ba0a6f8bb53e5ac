#include <gtest/gtest.h>

#include <systemc>

// The kernel's library has a `main` of its own; and what the kernel warns of fails the test.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_THROW);
  return RUN_ALL_TESTS();
}
