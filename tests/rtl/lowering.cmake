logos_test(rtl_lowering_test
  SOURCES lowering_test.cc instruction_model.cc instruction_model_store.cc ../contract/contract.cc
  LINK d5005_lowering bench_core)
logos_test(rtl_observed_test
  SOURCES observed_test.cc instruction_model.cc instruction_model_store.cc ../contract/contract.cc
  LINK d5005_lowering bench_core)
