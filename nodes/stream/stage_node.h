#pragma once
// A replica of a stage: runs the stage's operators over the records of its source, or over those that other stages push
// to it, and pushes theirs on.
//
//     read/0 ─┬─▶ count/0        each node also answers to the pipeline's master, which starts
//     read/1 ─┴─▶ count/1        checkpoints and ends the program
//
// It takes part in the program's cuts. The barrier of a cut travels between the records, so a cut has the effect of the
// same records in every stage (Chandy and Lamport: Distributed snapshots, 1985). After the death of a node all go back
// to the last complete cut, sources too, and so no record is lost or counts twice.
//
// A node: run() works; its methods run beside it.

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "lp/checkpoint/checkpoint.h"
#include "lp/program/context.h"
#include "lp/program/crash_note.h"
#include "lp/rpc/client.h"
#include "lp/rpc/clients.h"
#include "lp/rpc/core/method.h"
#include "nodes/stream/input_channels.h"
#include "nodes/stream/operator.h"
#include "nodes/stream/signal.h"
#include "nodes/stream/stage_plan.h"

namespace lp {

class PipelineMaster;

// The names of nodes that a stage calls beside other stages: an argument that makes the edges.
struct StageServices {
  std::vector<std::string> names{};
  std::vector<std::string> dereference(Context&) const { return names; }
  void append_nodes(std::vector<std::string>& out) const { out.insert(out.end(), names.begin(), names.end()); }
};

class StageNode final : private CrashNote {
 public:
  static constexpr Interval kLongestWait = 1440_min;  // a frame waits for a slow stage, or for a restart

  StageNode(Context& node, Client<PipelineMaster> master, dataflow::StagePlan plan, PipelineOptions options,
            std::vector<Clients<StageNode>> outputs, const std::vector<std::string>& services);

  void run(Context& node);

  // Takes a frame of another stage. The future is ready when there is room for one more.
  Future<void> push(dataflow::Frame frame);
  // Asks for the cut of this number. A source puts its barrier among the records.
  void begin_cut(std::uint64_t number);
  // The cut is complete, so its results may become visible. The future is ready when they are, with all that the
  // replica has sent to other stages. `over`: all results of all stages are visible.
  Future<std::vector<dataflow::EdgeCounts>> commit(std::uint64_t number, bool over);
  // Makes a file in the scratch folder, and returns its path.
  std::string show_scratch() const;
  // Returns its name when it does not see the file, else nothing.
  std::string blind_to(const std::string& file) const;

  using Remote =
      Methods<deadline<immediate<&StageNode::push>, kLongestWait>, immediate<&StageNode::begin_cut>,
              deadline<immediate<&StageNode::commit>, kLongestWait>, &StageNode::show_scratch, &StageNode::blind_to>;

  void save(Checkpoint& out) const;
  void load(const Checkpoint& in);

 private:
  struct Commit {
    std::uint64_t number = 0;
    bool over = false;
    Promise<std::vector<dataflow::EdgeCounts>> done{};
  };

  void make_operators();
  // The part of a checkpoint beside the states of the operators, which have taken these.
  struct Before {
    std::uint64_t cut = 0;
    EventTime watermark = kNoTime;
    bool ended = false;
    StageCounts counts{};
    std::vector<std::uint8_t> ends{};
    std::vector<std::vector<dataflow::EdgeCounts>> sent{};
    std::string lost{};  // why an operator could not take its state; empty: all have
  };

  void begin();
  Before restore(const Checkpoint& in);
  Before rescale();
  void load(std::size_t op, const dataflow::StatePiece& piece, Before& out);
  std::string obstacle(const Before& before) const;
  void go_on(const Before& before);
  void begin_again(std::uint64_t cut);
  void start_operators(std::uint64_t cut);
  void work();
  bool step();
  [[noreturn]] void fail(const dataflow::FunctionError& error);
  void skipped(const std::string& reason);
  dataflow::StageHead& head();
  bool read();
  bool receive();
  bool commands();
  void pass(const dataflow::Mark& mark);
  void advance_watermark();
  void note_idle(bool idle);
  void take_cut(std::uint64_t number);
  void end();
  std::vector<dataflow::EdgeCounts> sent() const;
  void report_progress() const;
  void write_line(int fd) const noexcept override;

  Context& context_;
  const Client<PipelineMaster> master_;
  const dataflow::StagePlan plan_;
  const PipelineOptions options_;
  dataflow::Signal signal_{};  // outlives the operators, which may set it
  dataflow::StageSite site_;
  std::vector<std::unique_ptr<dataflow::Operator>> operators_{};
  dataflow::StageSource* source_ = nullptr;
  dataflow::StageInput* input_ = nullptr;

  dataflow::InputChannels channels_;
  std::mutex mutex_{};  // for the commands
  std::uint64_t asked_cut_ = 0;
  std::deque<Commit> commits_{};

  std::optional<Checkpoint> restored_{};
  std::uint64_t cut_ = 0;  // the last one
  EventTime watermark_ = kNoTime;
  bool marking_ = false;   // a mark is on its way, and no record
  bool ended_ = false;     // everything was passed on
  bool idle_ = false;      // and this was passed on
  Time idle_at_ = kNever;  // when a source from which nothing comes will be idle
};

}  // namespace lp
