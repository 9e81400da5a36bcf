#include "sim/run/execution.h"

#include <limits>

#include "sim/decode/program.h"
#include "sim/run/make_checkers.h"
#include "sim/run/workgroup.h"

namespace nereid::sim {

struct Execution::Content {
  CodeObject code;
  Launch launch;
  std::unique_ptr<Memory> own_memory; ///< of a fork
  Memory *memory;
  std::unique_ptr<LaunchState> state;
  std::unique_ptr<Checker> checker;
  std::unique_ptr<WorkgroupRunner> runner;
  std::optional<Fault> fault;
  uint64_t group = 0; ///< linear id
  bool done = false;

  Content(CodeObject object, const Launch &what) : code(std::move(object)), launch(what) {}

  State status() const { return fault ? State::Faulted : done ? State::Done : State::Running; }

  void advance(uint64_t limit) {
    fault = runner->advance(limit);
    if (fault || !runner->ended())
      return;
    if (++group < state->group_count)
      runner->begin(group);
    else
      done = true;
  }

  const Instruction &instruction() const {
    const Wave &wave = runner->current();
    return code.program()[status() == State::Running ? wave.pc : wave.current];
  }
};

Execution::Execution(std::unique_ptr<Content> content) : content_(std::move(content)) {}
Execution::Execution(Execution &&) noexcept = default;
Execution &Execution::operator=(Execution &&) noexcept = default;
Execution::~Execution() = default;

Result<Execution> Execution::start(const CodeObject &code, Memory &memory, const Launch &launch) {
  auto content = std::make_unique<Content>(code, launch);
  content->memory = &memory;
  auto state = LaunchState::prepare(content->code, memory, content->launch);
  if (!state)
    return state.error();
  content->state = std::move(*state);
  content->checker = make_checkers(*content->state);
  content->runner = std::make_unique<WorkgroupRunner>(*content->state, content->checker.get());
  content->runner->begin(0);
  return Execution(std::move(content));
}

Execution::State Execution::state() const { return content_->status(); }
const std::optional<Fault> &Execution::fault() const & { return content_->fault; }

Report Execution::report() const {
  Report report = content_->runner->totals().report();
  report.fault = content_->fault;
  return report;
}

Execution::State Execution::step(uint64_t instructions) {
  for (uint64_t left = instructions; left > 0 && state() == State::Running; --left)
    content_->advance(1);
  return state();
}

Execution::State
Execution::run_until(const std::function<bool(const Wave &, const Instruction &)> &predicate) {
  do
    step();
  while (state() == State::Running && !predicate(wave(), instruction()));
  return state();
}

Execution::State Execution::run() {
  while (state() == State::Running)
    content_->advance(std::numeric_limits<uint64_t>::max());
  return state();
}

Wave &Execution::wave() & { return content_->runner->current(); }
std::span<const std::unique_ptr<Wave>> Execution::waves() const & { return content_->runner->waves(); }
std::array<uint32_t, 3> Execution::workgroup() const {
  const Workgroup &group = content_->runner->group();
  return {group.id[0], group.id[1], group.id[2]};
}
std::span<std::byte> Execution::lds() & { return wave().group->lds; }
Memory &Execution::memory() & { return *content_->memory; }

const Instruction &Execution::instruction() const & { return content_->instruction(); }
std::string Execution::text() const { return content_->code.program().text(instruction()); }
SourceLine Execution::line() const { return content_->code.line(instruction().address); }

Result<Execution> Execution::fork() const {
  auto memory = content_->memory->fork();
  if (!memory)
    return memory.error();
  auto copy = std::make_unique<Content>(content_->code, content_->launch);
  copy->own_memory = std::move(*memory);
  copy->memory = copy->own_memory.get();
  copy->state = content_->state->on_copy(copy->code, *copy->memory, copy->launch);
  if (content_->checker)
    copy->checker = content_->checker->fork(*copy->state);
  copy->runner = std::make_unique<WorkgroupRunner>(*copy->state, *content_->runner, copy->checker.get());
  copy->fault = content_->fault;
  copy->group = content_->group;
  copy->done = content_->done;
  return Execution(std::move(copy));
}

} // namespace nereid::sim
