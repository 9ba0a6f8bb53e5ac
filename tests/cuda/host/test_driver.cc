// A libcuda.so.1 for tests: the driver's interface over host memory. Kernels are handed to a
// function of the test (logos_test_driver_run), which runs them on the executor. The environment
// variable LOGOS_TEST_DRIVER_FAIL names a function that returns error 999, `cuLaunchKernel:7` from
// its seventh call on; LOGOS_TEST_DRIVER_DEVICES the number of devices. Streams run at once, but
// for a capture, which keeps the calls.
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using Run = void (*)(const char* name, const unsigned (&shape)[7], void* argument);

struct Graph {
  std::vector<std::function<void()>> calls;
};

struct Stream {
  Graph* capture = nullptr;
};

Run run_kernel = nullptr;
std::size_t argument_bytes = 0;
std::size_t (*bytes_of_kernel)(const char* name) = nullptr;  // in place of argument_bytes
std::set<std::string> names;
int live = 0;  // handles and allocations that were not given back
thread_local void* context = nullptr;

std::string told;       // the variable's content when it was last looked at
int calls_to_told = 0;  // calls of the function that it names, since then

bool fails(const char* function) {
  const char* wanted = std::getenv("LOGOS_TEST_DRIVER_FAIL");
  if (told != (wanted == nullptr ? "" : wanted)) {
    told = wanted == nullptr ? "" : wanted;
    calls_to_told = 0;
  }
  const std::size_t colon = told.find(':');
  if (told.substr(0, colon) != function) return false;
  const int first = colon == std::string::npos ? 1 : std::atoi(told.c_str() + colon + 1);
  return ++calls_to_told >= first;
}

int enqueue(Stream* stream, std::function<void()> call) {
  if (stream->capture != nullptr) {
    stream->capture->calls.push_back(std::move(call));
  } else {
    call();
  }
  return 0;
}

}  // namespace

#define FAIL_IF_TOLD() \
  if (fails(__func__)) return 999
#define WANT_CONTEXT() \
  FAIL_IF_TOLD();      \
  if (context == nullptr) return 201  // CUDA_ERROR_INVALID_CONTEXT

// The driver's names, and its addresses as integers.
// NOLINTBEGIN(readability-identifier-naming, performance-no-int-to-ptr)
extern "C" {

void logos_test_driver_run(Run run, std::size_t bytes) {
  run_kernel = run;
  argument_bytes = bytes;
}
void logos_test_driver_sizes(std::size_t (*bytes_of)(const char* name)) {
  bytes_of_kernel = bytes_of;
}
int logos_test_driver_live() { return live; }

int cuInit(unsigned) {
  FAIL_IF_TOLD();
  return 0;
}
int cuDriverGetVersion(int* version) {
  FAIL_IF_TOLD();
  *version = 13000;
  return 0;
}
int cuGetErrorString(int, const char** text) {
  FAIL_IF_TOLD();
  *text = "unknown error of a test";
  return 0;
}
int cuDeviceGetCount(int* count) {
  FAIL_IF_TOLD();
  const char* devices = std::getenv("LOGOS_TEST_DRIVER_DEVICES");
  *count = devices == nullptr ? 1 : std::atoi(devices);
  return 0;
}
int cuDeviceGet(int* device, int) {
  FAIL_IF_TOLD();
  *device = 0;
  return 0;
}
int cuDeviceGetName(char* name, int size, int) {
  FAIL_IF_TOLD();
  std::strncpy(name, "Test GPU", static_cast<std::size_t>(size));
  return 0;
}
int cuDeviceGetAttribute(int* value, int which, int) {
  FAIL_IF_TOLD();
  *value = which == 75 ? 9 : 0;  // compute capability 9.0
  return 0;
}
int cuDevicePrimaryCtxRetain(void** retained, int) {
  FAIL_IF_TOLD();
  *retained = &live;
  ++live;
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) {
  --live;
  return 0;
}
int cuCtxSetCurrent(void* wanted) {
  FAIL_IF_TOLD();
  context = wanted;
  return 0;
}
int cuModuleLoadData(void** module, const void* image) {
  WANT_CONTEXT();
  if (std::memcmp(image, "image", 5) != 0) return 200;
  *module = &names;
  ++live;
  return 0;
}
int cuModuleUnload(void*) {
  --live;
  return 0;
}
int cuModuleGetFunction(void** function, void*, const char* name) {
  WANT_CONTEXT();
  *function = const_cast<std::string*>(&*names.insert(name).first);
  return 0;
}
int cuFuncSetAttribute(void*, int, int) {
  WANT_CONTEXT();
  return 0;
}
int cuMemAlloc_v2(unsigned long long* pointer, std::size_t bytes) {
  WANT_CONTEXT();
  *pointer =
      reinterpret_cast<unsigned long long>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  ++live;
  return 0;
}
int cuMemFree_v2(unsigned long long pointer) {
  std::free(reinterpret_cast<void*>(pointer));
  --live;
  return 0;
}
int cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, std::size_t bytes, Stream*) {
  WANT_CONTEXT();
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}
int cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, std::size_t bytes, Stream*) {
  WANT_CONTEXT();
  std::memcpy(to, reinterpret_cast<void*>(from), bytes);
  return 0;
}
int cuMemsetD8Async(unsigned long long to, unsigned char value, std::size_t bytes, Stream* stream) {
  WANT_CONTEXT();
  return enqueue(stream, [=] { std::memset(reinterpret_cast<void*>(to), value, bytes); });
}
int cuStreamCreate(Stream** stream, unsigned) {
  WANT_CONTEXT();
  *stream = new Stream;
  ++live;
  return 0;
}
int cuStreamDestroy_v2(Stream* stream) {
  delete stream;
  --live;
  return 0;
}
int cuStreamSynchronize(Stream*) {
  WANT_CONTEXT();
  return 0;
}
int cuStreamBeginCapture_v2(Stream* stream, int) {
  WANT_CONTEXT();
  stream->capture = new Graph;
  ++live;
  return 0;
}
int cuStreamEndCapture(Stream* stream, Graph** graph) {
  *graph = std::exchange(stream->capture, nullptr);
  FAIL_IF_TOLD();
  return 0;
}
int cuGraphInstantiateWithFlags(void** runnable, Graph* graph, unsigned long long) {
  WANT_CONTEXT();
  *runnable = new Graph(*graph);
  ++live;
  return 0;
}
int cuGraphLaunch(Graph* runnable, Stream*) {
  WANT_CONTEXT();
  for (const auto& call : runnable->calls) call();
  return 0;
}
int cuGraphExecDestroy(Graph* runnable) {
  delete runnable;
  --live;
  return 0;
}
int cuGraphDestroy(Graph* graph) {
  delete graph;
  --live;
  return 0;
}
using Clock = std::chrono::steady_clock;
int cuEventCreate(Clock::time_point** event, unsigned) {
  WANT_CONTEXT();
  *event = new Clock::time_point;
  ++live;
  return 0;
}
int cuEventRecord(Clock::time_point* event, Stream*) {
  WANT_CONTEXT();
  *event = Clock::now();
  return 0;
}
int cuEventSynchronize(Clock::time_point*) {
  WANT_CONTEXT();
  return 0;
}
int cuEventElapsedTime(float* milliseconds, Clock::time_point* begin, Clock::time_point* end) {
  WANT_CONTEXT();
  *milliseconds = std::chrono::duration<float, std::milli>(*end - *begin).count();
  return 0;
}
int cuEventDestroy_v2(Clock::time_point* event) {
  delete event;
  --live;
  return 0;
}
int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, Stream* stream, void** parameters, void** extra) {
  WANT_CONTEXT();
  if (extra != nullptr) return 1;
  const std::string& name = *static_cast<std::string*>(function);
  // As a driver does: the argument's bytes, whose number a module knows, are copied now.
  std::vector<std::byte> argument(bytes_of_kernel == nullptr ? argument_bytes
                                                             : bytes_of_kernel(name.c_str()));
  std::memcpy(argument.data(), parameters[0], argument.size());
  return enqueue(stream, [=, &name]() mutable {
    const unsigned shape[7] = {gx, gy, gz, bx, by, bz, shared};
    run_kernel(name.c_str(), shape, argument.data());
  });
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming, performance-no-int-to-ptr)
