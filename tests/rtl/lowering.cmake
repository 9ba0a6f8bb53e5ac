logos_test(rtl_lowering_test
  SOURCES lowering_test.cc model_run.cc ../contract/contract.cc
  LINK small_models d5005_lowering d5005_model bench_core)
logos_test(rtl_gathered_writes_test SOURCES gathered_writes_test.cc LINK d5005_driver)
logos_test(rtl_observed_test
  SOURCES observed_test.cc model_run.cc ../contract/contract.cc
  LINK small_models d5005_lowering d5005_model bench_core)
