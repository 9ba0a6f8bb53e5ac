#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

namespace logos::cuda {

/// A GPU, its driver or its library did not do what was asked. Whoever catches it lets the kernels
/// run on the host instead, with a line saying why.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The CUDA driver API as far as we use it, loaded at run time, so that one program serves with and
/// without a driver. The declarations are those of cuda.h (a test compares them with the
/// toolkit's): handles are opaque pointers, results are an enumeration of which we name only
/// success.
namespace driver {

using Result = int;
inline constexpr Result kSuccess = 0;
using Device = int;
using DevicePtr = unsigned long long;
struct ContextTag;
struct ModuleTag;
struct FunctionTag;
struct StreamTag;
struct EventTag;
struct GraphTag;
struct GraphExecTag;
using Context = ContextTag*;
using Module = ModuleTag*;
using Function = FunctionTag*;
using Stream = StreamTag*;
using Event = EventTag*;
using Graph = GraphTag*;
using GraphExec = GraphExecTag*;

// Values of cuda.h's enumerations.
inline constexpr int kAttributeMajor = 75;
inline constexpr int kAttributeMinor = 76;
inline constexpr int kFunctionMaxDynamicShared = 8;
inline constexpr int kCaptureThreadLocal = 1;
inline constexpr unsigned kStreamNonBlocking = 1;

/// name in libcuda, member, parameters
#define LOGOS_DRIVER_FUNCTIONS(X)                                                            \
  X(cuInit, init, (unsigned))                                                                \
  X(cuDriverGetVersion, driver_get_version, (int*))                                          \
  X(cuGetErrorString, get_error_string, (Result, const char**))                              \
  X(cuDeviceGetCount, device_get_count, (int*))                                              \
  X(cuDeviceGet, device_get, (Device*, int))                                                 \
  X(cuDeviceGetName, device_get_name, (char*, int, Device))                                  \
  X(cuDeviceGetAttribute, device_get_attribute, (int*, int, Device))                         \
  X(cuDevicePrimaryCtxRetain, primary_ctx_retain, (Context*, Device))                        \
  X(cuDevicePrimaryCtxRelease_v2, primary_ctx_release, (Device))                             \
  X(cuCtxSetCurrent, ctx_set_current, (Context))                                             \
  X(cuModuleLoadData, module_load_data, (Module*, const void*))                              \
  X(cuModuleUnload, module_unload, (Module))                                                 \
  X(cuModuleGetFunction, module_get_function, (Function*, Module, const char*))              \
  X(cuFuncSetAttribute, func_set_attribute, (Function, int, int))                            \
  X(cuMemAlloc_v2, mem_alloc, (DevicePtr*, std::size_t))                                     \
  X(cuMemFree_v2, mem_free, (DevicePtr))                                                     \
  X(cuMemcpyHtoDAsync_v2, copy_to_device, (DevicePtr, const void*, std::size_t, Stream))     \
  X(cuMemcpyDtoHAsync_v2, copy_to_host, (void*, DevicePtr, std::size_t, Stream))             \
  X(cuMemsetD8Async, memset_d8, (DevicePtr, unsigned char, std::size_t, Stream))             \
  X(cuStreamCreate, stream_create, (Stream*, unsigned))                                      \
  X(cuStreamDestroy_v2, stream_destroy, (Stream))                                            \
  X(cuStreamSynchronize, stream_synchronize, (Stream))                                       \
  X(cuStreamBeginCapture_v2, stream_begin_capture, (Stream, int))                            \
  X(cuStreamEndCapture, stream_end_capture, (Stream, Graph*))                                \
  X(cuGraphInstantiateWithFlags, graph_instantiate, (GraphExec*, Graph, unsigned long long)) \
  X(cuGraphLaunch, graph_launch, (GraphExec, Stream))                                        \
  X(cuGraphExecDestroy, graph_exec_destroy, (GraphExec))                                     \
  X(cuGraphDestroy, graph_destroy, (Graph))                                                  \
  X(cuEventCreate, event_create, (Event*, unsigned))                                         \
  X(cuEventRecord, event_record, (Event, Stream))                                            \
  X(cuEventSynchronize, event_synchronize, (Event))                                          \
  X(cuEventElapsedTime, event_elapsed_time, (float*, Event, Event))                          \
  X(cuEventDestroy_v2, event_destroy, (Event))                                               \
  X(cuLaunchKernel, launch_kernel,                                                           \
    (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, \
     void**, void**))

}  // namespace driver

namespace driver {
/// One pointer for each function.
struct Functions {
// A declarator: parentheses of its own would change what it says.
// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define LOGOS_DRIVER_MEMBER(symbol, member, parameters) Result(*member) parameters = nullptr;
  LOGOS_DRIVER_FUNCTIONS(LOGOS_DRIVER_MEMBER)
#undef LOGOS_DRIVER_MEMBER
};
}  // namespace driver

/// A driver library, loaded.
class Driver : public driver::Functions {
 public:
  /// Loads `library` and finds every function. Throws DeviceError.
  explicit Driver(const std::string& library);
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  /// Throws DeviceError naming the call and the driver's own words for the result.
  void check(driver::Result result, const char* call) const;

 private:
  void* library_ = nullptr;  // stays loaded: drivers leave threads and exit handlers behind
};

}  // namespace logos::cuda
