#include "nodes/stream/stage_node.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/file.h"
#include "lp/base/text.h"
#include "lp/checkpoint/cut.h"
#include "lp/program/sent_values.h"
#include "nodes/stream/pipeline_master.h"
#include "nodes/stream/unusable.h"

namespace lp {

using dataflow::EdgeCounts;
using dataflow::Frame;
using dataflow::Mark;
using dataflow::MarkKind;
using dataflow::OperatorState;
using dataflow::StatePiece;

namespace {

constexpr auto kRestartWait =
    std::chrono::seconds(30);  // until the supervisor takes this node back with one that has died

std::string entry(std::size_t number) { return "operator." + std::to_string(number); }

}  // namespace

StageNode::StageNode(Context& node, Client<PipelineMaster> master, dataflow::StagePlan plan, PipelineOptions options,
                     std::vector<Clients<StageNode>> outputs, const std::vector<std::string>&)
    : context_(node),
      master_(std::move(master)),
      plan_(std::move(plan)),
      options_(std::move(options)),
      site_{.node = node,
            .options = options_,
            .stage = plan_.name,
            .replica = static_cast<std::uint32_t>(node.index()),
            .replicas = plan_.replicas,
            .wake = [this] { signal_.set(); }},
      channels_(plan_.senders, signal_) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    site_.outputs.push_back(std::make_unique<dataflow::FrameOutput>(std::move(outputs[i]), plan_.outputs[i].input,
                                                                    site_.replica, node.incarnation(),
                                                                    EdgeCounts{plan_.name, plan_.outputs[i].name}));
  }
}

Future<void> StageNode::push(Frame frame) { return channels_.push(std::move(frame)); }

void StageNode::begin_cut(std::uint64_t number) {
  {
    const std::lock_guard lock(mutex_);
    asked_cut_ = std::max(asked_cut_, number);
  }
  signal_.set();
}

Future<std::vector<EdgeCounts>> StageNode::commit(std::uint64_t number, bool over) {
  Future<std::vector<EdgeCounts>> done;
  {
    const std::lock_guard lock(mutex_);
    done = commits_.emplace_back(Commit{.number = number, .over = over}).done.future();
  }
  signal_.set();
  return done;
}

std::string StageNode::show_scratch() const {
  const std::filesystem::path folder = dataflow::scratch_of(options_, context_);
  std::filesystem::create_directories(folder);
  std::string file = (folder / "shared").string();
  write_file(file, "");
  return file;
}

std::string StageNode::blind_to(const std::string& file) const {
  return std::filesystem::exists(file) ? std::string() : context_.name();
}

void StageNode::run(Context& node) {
  if (options_.skip_records > 0) {
    site_.bad.allow([this] { return marking_ ? std::string() : head().location(); },
                    [this](const std::string& reason) { skipped(reason); },
                    static_cast<std::size_t>(options_.memory / 4));
  }
  struct Noted {
    explicit Noted(const CrashNote& note) { set_of_this_thread(&note); }
    ~Noted() { set_of_this_thread(nullptr); }
  } noted(*this);
  try {
    make_operators();
    begin();
    while (!node.stopping()) work();
  } catch (const dataflow::Unusable& error) {
    context_.fail_program(error.text());
  } catch (const Error& error) {
    // The receiver of this node's records has died, and this node goes back to a cut with it.
    if (error.kind() == ErrorKind::disconnected && !node.wait_for(kRestartWait)) return;
    throw;
  }
}

void StageNode::make_operators() {
  for (const dataflow::OperatorPlan& one : plan_.operators) {
    site_.op = operators_.size();
    operators_.push_back(one.make(site_));
    if (one.connect) one.connect(*operators_[one.parent], *operators_.back());
  }
  source_ = dynamic_cast<dataflow::StageSource*>(operators_.front().get());
  input_ = dynamic_cast<dataflow::StageInput*>(operators_.front().get());
}

void StageNode::work() {
  if (commands()) return;
  if (ended_) return signal_.wait();
  if (step()) return;
  signal_.wait(source_ != nullptr ? std::min(source_->idle_time(), until(idle_at_)) : kForever);
}

dataflow::StageHead& StageNode::head() {
  return source_ != nullptr ? static_cast<dataflow::StageHead&>(*source_) : *input_;
}

// Returns whether there was something to do.
bool StageNode::step() {
  try {
    return source_ != nullptr ? read() : receive();
  } catch (const dataflow::FunctionError& error) {
    fail(error);
  } catch (const Error&) {
    throw;
  } catch (...) {
    fail(dataflow::FunctionError(as_error(std::current_exception())));
  }
}

// A function has failed on some record of a batch: names the record. The records that it hands on for that are in no
// cut. When the function fails on it again, it would do so after a restart.
void StageNode::fail(const dataflow::FunctionError& error) {
  bool again = error.repeats();
  std::string record;
  dataflow::StageHead* const from = marking_ || error.has_location() ? nullptr : &head();  // else it is of many
  if (from != nullptr) try {
      from->again();
    } catch (...) {
      if (as_error(std::current_exception()).text() == error.text()) {
        again = again || !error.may_pass();
        record = from->location();
      }
    }
  const std::string text = site_.stage + ": " + dataflow::bad_record_text(error.location(record), error);
  if (again) throw dataflow::Unusable(text);
  throw Error(ErrorKind::failed, text);
}

// A record is left out.
void StageNode::skipped(const std::string& reason) {
  ++site_.counts.skipped;
  const std::string text = context_.name() + ": " + reason;
  if (master_.call<&PipelineMaster::skipped>(context_.name(), site_.counts.skipped))
    return log_line(text + ", and is left out");
  const std::string more =
      "there are more than " + std::to_string(options_.skip_records) + " bad records; the last one: " + text;
  context_.fail_program(more);
  throw Error(ErrorKind::stopped, more);
}

// Returns whether there was something to do. Sources, and stages that have ended, are asked for cuts; the others find
// them among their frames.
bool StageNode::commands() {
  std::uint64_t asked = 0;
  std::vector<Commit> commits;
  {
    const std::lock_guard lock(mutex_);
    asked = asked_cut_;
    while (!commits_.empty() && commits_.front().number <= cut_) {
      commits.push_back(std::move(commits_.front()));
      commits_.pop_front();
    }
  }
  for (Commit& one : commits) {
    try {
      for (const auto& each : operators_) each->commit(one.number);
      if (one.over) {
        for (const auto& each : operators_) each->finish();
      }
    } catch (...) {
      one.done.set_exception(std::current_exception());  // so the master fails for this reason, too
      throw;
    }
    one.done.set_value(sent());
  }
  if (!commits.empty()) report_progress();
  if (asked <= cut_ || (source_ == nullptr && !ended_)) return !commits.empty();
  take_cut(asked);
  return true;
}

bool StageNode::read() {
  switch (source_->step()) {
    case dataflow::StageSource::Step::read:
      idle_at_ = kNever;
      note_idle(false);
      return true;
    case dataflow::StageSource::Step::idle:
      if (idle_at_ == kNever && !idle_) idle_at_ = after(options_.idle_after);
      if (passed(idle_at_)) note_idle(true);
      return false;
    default: break;
  }
  end();
  return true;
}

bool StageNode::receive() {
  if (std::optional<Frame> frame = channels_.take()) {
    if (!frame->records.empty()) input_->receive(frame->records);
    if (frame->mark.kind != MarkKind::none) advance_watermark();
    note_idle(channels_.idle());
    return true;
  }
  if (channels_.barrier() > cut_ && channels_.aligned()) {
    take_cut(channels_.barrier());
    return true;
  }
  if (!channels_.ended()) return false;
  end();
  return true;
}

void StageNode::pass(const Mark& mark) {
  marking_ = true;
  if (source_ != nullptr) {
    source_->mark(mark);
  } else {
    input_->mark(mark);
  }
  marking_ = false;
}

void StageNode::advance_watermark() {
  const EventTime now = channels_.watermark();
  if (now <= watermark_ || channels_.ended()) return;
  watermark_ = now;
  pass({MarkKind::watermark, watermark_});
}

void StageNode::note_idle(bool idle) {
  if (std::exchange(idle_, idle) || !idle) return;
  idle_at_ = kNever;
  pass({MarkKind::idle, 0});
}

void StageNode::take_cut(std::uint64_t number) {
  if (!ended_) pass({MarkKind::barrier, static_cast<std::int64_t>(number)});
  for (const auto& each : operators_) each->cut(number);
  cut_ = number;
  channels_.go_on();
  context_.checkpoint(number);
}

void StageNode::end() {
  pass({MarkKind::watermark, kEndOfTime});
  pass({MarkKind::end, 0});
  ended_ = true;
  master_.call<&PipelineMaster::ended>(context_.name(), site_.counts);
}

std::vector<EdgeCounts> StageNode::sent() const {
  std::vector<EdgeCounts> out;
  for (const auto& one : site_.outputs) out.push_back(one->counts());
  return out;
}

void StageNode::report_progress() const {
  std::map<std::string, double> values;
  for (const auto& one : site_.outputs) {
    const EdgeCounts& counts = one->counts();
    values[records_to(counts.to)] += static_cast<double>(counts.records);
    values[bytes_to(counts.to)] += static_cast<double>(counts.bytes);
  }
  context_.report({.step = cut_, .values = {values.begin(), values.end()}});
}

void StageNode::save(Checkpoint& out) const {
  out.put("cut", cut_);
  out.put("ended", ended_);
  out.put("counts", site_.counts);
  out.put("watermark", watermark_);
  out.put("ends", channels_.ends());
  out.put("sent", sent());
  for (std::size_t i = 0; i < operators_.size(); ++i) {
    OperatorState state;
    operators_[i]->save(state);
    if (!state.empty()) out.put(entry(i), state);
  }
}

void StageNode::load(const Checkpoint& in) { restored_ = in; }

// Goes on from a checkpoint, or begins.
void StageNode::begin() {
  if (!restored_ && options_.from.empty()) {
    start_operators(0);
  } else {
    const Before before = restored_ ? restore(*restored_) : rescale();
    restored_.reset();
    if (master_.call<&PipelineMaster::restored>(context_.name(), before.lost, obstacle(before))) {
      begin_again(before.cut);
    } else {
      go_on(before);
    }
  }
  // The master may know what an incarnation has left out behind the cut; that does not count.
  if (options_.skip_records > 0) master_.call<&PipelineMaster::skipped>(context_.name(), site_.counts.skipped);
  if (ended_) master_.call<&PipelineMaster::ended>(context_.name(), site_.counts);
}

StageNode::Before StageNode::restore(const Checkpoint& in) {
  Before out{.cut = in.get<std::uint64_t>("cut"),
             .watermark = in.get<EventTime>("watermark"),
             .ended = in.get<bool>("ended"),
             .counts = in.get<StageCounts>("counts"),
             .ends = in.get<std::vector<std::uint8_t>>("ends"),
             .sent = {in.get<std::vector<EdgeCounts>>("sent")}};
  for (std::size_t i = 0; i < operators_.size(); ++i) {
    if (!in.has(entry(i))) continue;
    for (const StatePiece& piece : in.get<OperatorState>(entry(i))) load(i, piece, out);
  }
  return out;
}

// Takes this replica's part of the state of all replicas in the last checkpoint of another run.
StageNode::Before StageNode::rescale() {
  const std::optional<Cut> cut = latest_cut(options_.from);
  if (!cut) {
    throw dataflow::Unusable(options_.from.string() + " has no complete checkpoint to go on from: name the directory " +
                             "of a run that has one, or begin without PipelineOptions::from");
  }
  Before out{.cut = cut->step};
  std::uint32_t next = 0;  // the replica that takes the next piece that any may take
  for (std::size_t replica = 0;; ++replica) {
    const std::string node = plan_.name + "/" + std::to_string(replica);
    const auto same = [&](const CutMember& one) { return one.node == node; };
    const bool has_more = std::any_of(cut->members.begin(), cut->members.end(), same);
    if (!has_more && replica == 0) {
      throw dataflow::Unusable(options_.from.string() + " is a run of another pipeline, without the stage " +
                               plan_.name + ": name a run of the same one");
    }
    if (!has_more) break;
    const Checkpoint in = read_cut_file(cut->directory, node);
    out.watermark = std::max(out.watermark, in.get<EventTime>("watermark"));
    if (replica % plan_.replicas == site_.replica) {
      const auto before = in.get<StageCounts>("counts");
      out.counts.skipped += before.skipped;
      out.counts.future_events += before.future_events;
      out.counts.results += before.results;
      out.sent.push_back(in.get<std::vector<EdgeCounts>>("sent"));
    }
    for (std::size_t i = 0; i < operators_.size(); ++i) {
      if (!in.has(entry(i))) continue;
      for (const StatePiece& piece : in.get<OperatorState>(entry(i))) {
        const bool mine = piece.group == dataflow::kAnyReplica
                              ? next++ % plan_.replicas == site_.replica
                              : piece.group == dataflow::kEveryReplica || site_.owns(piece.group);
        if (mine) load(i, piece, out);
      }
    }
  }
  return out;
}

void StageNode::load(std::size_t op, const StatePiece& piece, Before& out) {
  try {
    operators_[op]->load(piece);
  } catch (const dataflow::MissingFile& error) {
    out.lost = error.fact();
  }
}

// Why the pipeline cannot make again what is lost; empty: it can, as far as this replica is concerned.
std::string StageNode::obstacle(const Before& before) const {
  if (before.counts.results > 0) return "the stage " + site_.stage + " has made results";
  if (source_ != nullptr && !source_->repeats()) return "the source " + site_.stage + " may not read the same again";
  return {};
}

void StageNode::go_on(const Before& before) {
  cut_ = before.cut;
  watermark_ = before.watermark;
  ended_ = before.ended;
  site_.counts = before.counts;
  start_operators(cut_);
  if (!before.ends.empty()) channels_.set_ends(before.ends);
  for (const std::vector<EdgeCounts>& sent : before.sent) {
    for (std::size_t i = 0; i < std::min(sent.size(), site_.outputs.size()); ++i) site_.outputs[i]->add(sent[i]);
  }
}

// The results of another run are still there after a restart, and so is a file that is to be a directory.
void StageNode::start_operators(std::uint64_t cut) {
  try {
    if (!options_.scratch.empty()) check_directory(options_.scratch);
    for (const auto& each : operators_) each->start(cut);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::failed) throw;
    throw dataflow::Unusable(error.text());
  }
}

// Forgets the state, which is not complete. Later cuts have the next numbers.
void StageNode::begin_again(std::uint64_t cut) {
  operators_.clear();
  site_.splits = {};
  make_operators();
  cut_ = cut;
  start_operators(0);
}

// Which records of which file a function of the user has, when it ends the process.
void StageNode::write_line(int fd) const noexcept {
  const auto put = [fd](std::string_view text) {
    [[maybe_unused]] const auto size = ::write(fd, text.data(), text.size());
  };
  const auto put_number = [&put](std::uint64_t number) {
    std::array<char, 24> digits;
    put({digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr});
  };
  put("lp: in the stage ");
  put(site_.stage);
  put(", node ");
  put(context_.name());
  const dataflow::FilePosition place =
      source_ == nullptr || marking_ ? dataflow::FilePosition() : source_->file_position();
  if (!place.path.empty()) {
    put(place.first == place.last ? ", on the record at byte " : ", on a record that begins at one of the bytes ");
    put_number(place.first);
    if (place.first != place.last) put(" to ");
    if (place.first != place.last) put_number(place.last);
    put(" of ");
    put(place.path);
  }
  put("\n");
}

}  // namespace lp
