// Keeps crashes of LLVM and its options from the process around it.
#include "jit/compile/llvm_guard.h"

#include <iterator>
#include <mutex>

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"

namespace nereid::jit {
namespace {

thread_local std::string fatal_message;

void on_fatal_error(void *, const char *reason, bool) {
  llvm::CrashRecoveryContext *context = llvm::CrashRecoveryContext::GetCurrent();
  if (!context)
    return;
  fatal_message = reason;
  context->HandleExit(70);
}

/// Handlers are in force while any thread is inside.
class Handlers {
public:
  Handlers() {
    std::lock_guard lock(mutex());
    if (count()++ == 0) {
      llvm::CrashRecoveryContext::Enable();
      llvm::install_fatal_error_handler(on_fatal_error);
    }
  }
  ~Handlers() {
    std::lock_guard lock(mutex());
    if (--count() == 0) {
      llvm::remove_fatal_error_handler();
      llvm::CrashRecoveryContext::Disable();
    }
  }

private:
  static std::mutex &mutex() {
    static std::mutex instance;
    return instance;
  }
  static int &count() {
    static int instance = 0;
    return instance;
  }
};

/// A boolean option of LLVM and the value that Nereid's code wants, here and of a compiler with its own pass
/// pipeline.
/// - disable-lsr: strength reduction hoists immediate offsets of buffer loads into registers.
/// - amdgpu-scalar-ir-passes: straight-line passes in LLVM's code generation, of which pass_pipeline.cpp runs
///   those that find something.
struct BooleanOption {
  const char *name;
  bool value;
  bool value_of_others;
};
constexpr BooleanOption wanted_options[] = {{"disable-lsr", true, true},
                                            {"amdgpu-scalar-ir-passes", false, true}};

llvm::cl::opt<bool> *find(const BooleanOption &wanted) {
  auto &options = llvm::cl::getRegisteredOptions();
  auto found = options.find(wanted.name);
  return found == options.end() ? nullptr : static_cast<llvm::cl::opt<bool> *>(found->second);
}

} // namespace

Status run_guarded(const char *what, llvm::function_ref<Status()> work) {
  Handlers handlers;
  fatal_message.clear();
  Status status;
  llvm::CrashRecoveryContext context;
  if (context.RunSafely([&] { status = work(); }))
    return status;
  std::string message = fatal_message.empty() ? "LLVM crashed" : std::exchange(fatal_message, {});
  return nereid_error(std::string(what) + ": " + message,
                      "Please report the kernel; NEREID_DUMP_DIR writes what LLVM was given");
}

Status set_llvm_options() {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  for (const BooleanOption &wanted : wanted_options) {
    llvm::cl::opt<bool> *option = find(wanted);
    if (!option)
      return nereid_error("this LLVM has no option '" + std::string(wanted.name) + "'",
                          "Build Nereid with LLVM 22");
    if (option->getValue() != wanted.value || !option->getDefault().compare(wanted.value))
      option->setInitialValue(wanted.value);
  }
  return {};
}

std::vector<std::string> llvm_options_arguments() {
  std::vector<std::string> arguments;
  for (const BooleanOption &wanted : wanted_options) {
    arguments.push_back("-mllvm");
    arguments.push_back("-" + std::string(wanted.name) + "=" + (wanted.value_of_others ? "1" : "0"));
  }
  return arguments;
}

std::string llvm_options_text() {
  std::string text;
  for (const BooleanOption &wanted : wanted_options)
    text += (text.empty() ? "" : " ") + std::string(wanted.name) + "=" + (wanted.value ? "1" : "0");
  return text;
}

} // namespace nereid::jit
