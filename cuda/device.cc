#include "cuda/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "program/check.h"

namespace logos::cuda {
namespace {

struct Architecture {
  int number = 0;  // 10 * major + minor
  bool exact = false;
};

/// "sm_90a" -> {90, true}.
Architecture parse_architecture(std::string_view text) {
  const std::size_t digits = text.find('_') + 1;
  Architecture result;
  const auto [end, error] =
      std::from_chars(text.data() + digits, text.data() + text.size(), result.number);
  CHECK(error == std::errc());
  result.exact = end != text.data() + text.size();
  return result;
}

constexpr int kSharedWithoutAsking = 48 * 1024;  // more needs the function's attribute

/// A handle that is given back by a function of the driver.
template <typename Handle>
class Owned {
 public:
  Owned(driver::Result (*destroy)(Handle)) : destroy_(destroy) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { reset(); }
  void reset() {
    if (handle_ != Handle{}) destroy_(handle_);  // nothing to be done where even that fails
    handle_ = Handle{};
  }
  Handle* receive() {
    reset();
    return &handle_;
  }
  Handle get() const { return handle_; }

 private:
  driver::Result (*destroy_)(Handle);
  Handle handle_{};
};

/// The primary context of a device, kept while this lives and current on this thread.
class PrimaryContext {
 public:
  PrimaryContext(const Driver& driver, driver::Device device) : driver_(driver), device_(device) {
    driver.check(driver.primary_ctx_retain(&context_, device), "cuDevicePrimaryCtxRetain");
    const driver::Result result = bind();
    if (result != driver::kSuccess) {
      driver.primary_ctx_release(device);
      driver.check(result, "cuCtxSetCurrent");
    }
  }
  PrimaryContext(const PrimaryContext&) = delete;
  PrimaryContext& operator=(const PrimaryContext&) = delete;
  ~PrimaryContext() {
    driver_.ctx_set_current(nullptr);
    driver_.primary_ctx_release(device_);
  }
  /// Makes it current on the calling thread, which may be another one than before.
  driver::Result bind() const { return driver_.ctx_set_current(context_); }

 private:
  const Driver& driver_;
  driver::Device device_;
  driver::Context context_ = nullptr;
};

// The calls that need a context first make ours current: each may come from another thread.
#define LOGOS_CALL(function, ...) driver_.check(driver_.function(__VA_ARGS__), #function)
#define LOGOS_BIND() driver_.check(context_.bind(), "cuCtxSetCurrent")

class DeviceMachine : public Machine {
 public:
  explicit DeviceMachine(const DeviceOptions& options)
      : driver_(options.driver),
        device_(first_device()),
        context_(driver_, device_),
        module_(driver_.module_unload),
        stream_(driver_.stream_destroy) {
    const int major = attribute(driver::kAttributeMajor);
    const int minor = attribute(driver::kAttributeMinor);
    const Cubin* cubin = best_cubin(options.cubins, major, minor);
    if (cubin == nullptr) {
      throw DeviceError(fmt::format("{}: no kernels built for compute capability {}.{}",
                                    device_name(), major, minor));
    }
    LOGOS_CALL(module_load_data, module_.receive(), cubin->image.data());
    LOGOS_CALL(stream_create, stream_.receive(), driver::kStreamNonBlocking);
    description_ = fmt::format("kernels run on {} (compute capability {}.{}, {} image)",
                               device_name(), major, minor, cubin->architecture);
  }

  ~DeviceMachine() override {
    context_.bind();
    driver_.stream_synchronize(stream_.get());
    for (const auto& [data, bytes] : blocks_) driver_.mem_free(address(data));
  }

  std::string description() const override { return description_; }
  TimeClass time_class() const override { return TimeClass::kMeasured; }

  Buffer allocate(std::size_t bytes, std::string_view name) override {
    LOGOS_BIND();
    driver::DevicePtr pointer = 0;
    const driver::Result result = driver_.mem_alloc(&pointer, std::max<std::size_t>(bytes, 1));
    if (result != driver::kSuccess) {
      driver_.check(result, fmt::format("cuMemAlloc of {} bytes for {}", bytes, name).c_str());
    }
    // The driver gives addresses as integers.
    auto* data = reinterpret_cast<std::byte*>(pointer);  // NOLINT(performance-no-int-to-ptr)
    blocks_.emplace(data, bytes);
    return Buffer(*this, data, bytes);
  }

  void upload(std::byte* to, std::span<const std::byte> from) override {
    if (from.empty()) return;
    LOGOS_BIND();
    LOGOS_CALL(copy_to_device, address(to), from.data(), from.size(), stream_.get());
    LOGOS_CALL(stream_synchronize, stream_.get());  // the caller may change `from` now
  }

  void download(std::span<std::byte> to, const std::byte* from) override {
    if (to.empty()) return;
    LOGOS_BIND();
    LOGOS_CALL(copy_to_host, to.data(), address(from), to.size(), stream_.get());
    LOGOS_CALL(stream_synchronize, stream_.get());
  }

  void fill(std::byte* to, std::uint8_t value, std::size_t bytes) override {
    if (bytes == 0) return;
    LOGOS_BIND();
    LOGOS_CALL(memset_d8, address(to), value, bytes, stream_.get());
  }

  void launch_bytes(const Kernel& kernel, const LaunchShape& shape, std::span<const std::byte> args,
                    const Traffic& declared) override {
    check_shape(kernel.name, shape);
    CHECK(args.size() == kernel.args_bytes && kernel.args_bytes <= kMaxArgumentBytes);
    LOGOS_BIND();
    // The driver reads the argument only; its interface is not const.
    void* parameters[] = {const_cast<std::byte*>(args.data())};
    LOGOS_CALL(launch_kernel, function(kernel, shape.shared_bytes), shape.grid.x, shape.grid.y,
               shape.grid.z, shape.block.x, shape.block.y, shape.block.z,
               static_cast<unsigned>(shape.shared_bytes), stream_.get(), parameters, nullptr);
    if (!capturing_) records_.push_back({kernel.name, shape, declared, std::nullopt});
  }

  void synchronize() override {
    LOGOS_BIND();
    LOGOS_CALL(stream_synchronize, stream_.get());
  }

  std::optional<double> median_seconds(const std::function<void()>& launches,
                                       int replays) override {
    CHECK(replays > 0);
    LOGOS_BIND();
    Owned<driver::Graph> graph(driver_.graph_destroy);
    capture(launches, graph);
    Owned<driver::GraphExec> runnable(driver_.graph_exec_destroy);
    LOGOS_CALL(graph_instantiate, runnable.receive(), graph.get(), 0);
    Owned<driver::Event> begin(driver_.event_destroy);
    Owned<driver::Event> end(driver_.event_destroy);
    LOGOS_CALL(event_create, begin.receive(), 0);
    LOGOS_CALL(event_create, end.receive(), 0);
    LOGOS_CALL(graph_launch, runnable.get(), stream_.get());  // warms caches and clocks
    std::vector<float> milliseconds(static_cast<std::size_t>(replays));
    for (float& time : milliseconds) {
      LOGOS_CALL(event_record, begin.get(), stream_.get());
      LOGOS_CALL(graph_launch, runnable.get(), stream_.get());
      LOGOS_CALL(event_record, end.get(), stream_.get());
      LOGOS_CALL(event_synchronize, end.get());
      LOGOS_CALL(event_elapsed_time, &time, begin.get(), end.get());
    }
    const auto middle = milliseconds.begin() + replays / 2;
    std::nth_element(milliseconds.begin(), middle, milliseconds.end());
    return double{*middle} * 1e-3;
  }

 protected:
  void release(std::byte* data) noexcept override {
    // Launches that use the memory may still be under way; cuMemFree waits for them.
    context_.bind();
    if (blocks_.erase(data) != 0) driver_.mem_free(address(data));
  }

 private:
  static driver::DevicePtr address(const std::byte* data) {
    return reinterpret_cast<driver::DevicePtr>(data);
  }

  driver::Device first_device() {
    int version = 0;
    LOGOS_CALL(init, 0);
    LOGOS_CALL(driver_get_version, &version);
    int count = 0;  // stays as it was where the call fails
    LOGOS_CALL(device_get_count, &count);
    if (count < 1) {
      throw DeviceError(fmt::format("the CUDA driver (version {}) shows no GPU", version));
    }
    driver::Device device = 0;
    LOGOS_CALL(device_get, &device, 0);
    return device;
  }

  int attribute(int which) {
    int value = 0;
    LOGOS_CALL(device_get_attribute, &value, which, device_);
    return value;
  }

  std::string device_name() {
    char name[256] = {};
    LOGOS_CALL(device_get_name, name, sizeof name - 1, device_);
    return name;
  }

  driver::Function function(const Kernel& kernel, std::size_t shared_bytes) {
    Loaded& loaded = functions_[kernel.name];
    if (loaded.function == nullptr) {
      const std::string symbol(kernel.name);
      driver_.check(driver_.module_get_function(&loaded.function, module_.get(), symbol.c_str()),
                    symbol.c_str());
    }
    if (shared_bytes > kSharedWithoutAsking && shared_bytes > loaded.shared_bytes) {
      LOGOS_CALL(func_set_attribute, loaded.function, driver::kFunctionMaxDynamicShared,
                 static_cast<int>(shared_bytes));
      loaded.shared_bytes = shared_bytes;
    }
    return loaded.function;
  }

  /// Ends the capture whatever `launches` throws.
  void capture(const std::function<void()>& launches, Owned<driver::Graph>& graph) {
    LOGOS_CALL(stream_synchronize, stream_.get());
    LOGOS_CALL(stream_begin_capture, stream_.get(), driver::kCaptureThreadLocal);
    capturing_ = true;
    try {
      launches();
    } catch (...) {
      capturing_ = false;
      driver_.stream_end_capture(stream_.get(), graph.receive());
      throw;
    }
    capturing_ = false;
    LOGOS_CALL(stream_end_capture, stream_.get(), graph.receive());
  }

  struct Loaded {
    driver::Function function = nullptr;
    std::size_t shared_bytes = 0;
  };

  Driver driver_;
  driver::Device device_;
  PrimaryContext context_;
  Owned<driver::Module> module_;
  Owned<driver::Stream> stream_;
  std::string description_;
  std::map<std::string_view, Loaded> functions_;
  std::map<std::byte*, std::size_t> blocks_;
  bool capturing_ = false;
};

#undef LOGOS_BIND
#undef LOGOS_CALL

}  // namespace

const Cubin* best_cubin(std::span<const Cubin> cubins, int major, int minor) {
  const int device = 10 * major + minor;
  const Cubin* best = nullptr;
  int best_number = 0;
  for (const bool ptx : {false, true}) {
    for (const Cubin& cubin : cubins) {
      const auto [number, exact] = parse_architecture(cubin.architecture);
      if (cubin.is_ptx != ptx || number > device || (exact && number != device)) continue;
      if (!ptx && number / 10 != major) continue;
      if (number >= best_number) {
        best = &cubin;
        best_number = number;
      }
    }
    if (best != nullptr) return best;
  }
  return nullptr;
}

std::unique_ptr<Machine> open_device(const DeviceOptions& options) {
  if (options.cubins.empty()) {
    throw DeviceError("this program was built without a CUDA compiler");
  }
  return std::make_unique<DeviceMachine>(options);
}

}  // namespace logos::cuda
