logos_test(rtl_lowering_test
  SOURCES lowering_test.cc instruction_model.cc ../contract/contract.cc
  LINK d5005_lowering bench_core)
