#pragma once
// The lines of files that grow, and of directories that fill, as the first operator of a stage. A replica reads the
// files that belong to it.
//
// A file stays the same when it is renamed, so its lines are not read again under a name that matches, too. A file with
// the name of another one is a new file, and one that is shorter than what was read of it has begun anew: both are read
// from their begin. So is one that was cut off and has grown again: the last bytes that were read of it are others now.
// So a log may be rotated; lines that were not read when their file went are not read. Of several names of a file, it
// is read under one.
//
// Each file is a split with a watermark of its own, and the lines of the file whose watermark is the least one are read
// first. A file that is read to its end and from which nothing has come for PipelineOptions::idle_after is idle: it
// holds no watermark back until it grows again.
//
// Owned by a stage; one thread.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lp/base/scheduler.h"
#include "nodes/operators/file_changes.h"
#include "nodes/stream/operator.h"
#include "nodes/stream/stage_plan.h"

struct statx;  // the system's

namespace lp {

struct FollowOptions {
  // Files, directories and globs, as in InputOptions; they need not be there yet.
  std::vector<std::string> paths{};
  // The flow ends when this file is there and all lines are read; empty: never.
  std::filesystem::path until{};
  // For new files and lines that the system does not report: those on a network file system, and in directories that
  // were not there before.
  Duration look_every = std::chrono::seconds(1);
  std::uint64_t longest_line = std::uint64_t{64} << 20;           // bytes; a longer one is a bad record
  std::string longest_line_name = "FollowOptions::longest_line";  // what its user raises: for messages
};

namespace dataflow {

class FollowSource final : public Operator, public StageSource, public Producer<std::string_view> {
 public:
  FollowSource(StageSite& site, FollowOptions options);

  Step step() override;
  Duration idle_time() const override { return until(std::min(next_poll_, next_idle_)); }
  void mark(const Mark& mark) override { emit_mark(mark); }
  void save(OperatorState& out) const override;
  void load(const StatePiece& piece) override;
  void again() override;
  std::string location() const override;
  FilePosition file_position() const noexcept override;

 private:
  // Identifies a file, whatever its name, on all hosts.
  struct Identity {
    std::uint64_t inode = 0;
    std::int64_t born = 0;  // a number of a file may be used again
    auto operator<=>(const Identity&) const = default;
  };
  struct File {
    Identity identity{};
    std::uint64_t offset = 0;  // place of the first line that was not read
    std::uint64_t size = 0;    // as far as it is known, and not found to be the begin of a line
    std::string tail{};        // the last bytes before the offset
    std::int64_t written = 0;  // when it was written last
    bool changed = true;       // since it was read
    bool too_long = false;     // the offset is in a line that is left out
    std::uint64_t seen = 0;    // from the offset up to this size there is no whole line
    bool idle = false;         // see Split
  };
  using Device = std::pair<std::uint32_t, std::uint32_t>;  // where a file is, on this host
  using Files = std::map<std::string, File>;               // by path

  // What a look at all paths knows already.
  struct Look {
    std::map<Identity, File> before{};
    std::map<std::string, std::string> unreadable{};  // at the look before it
    std::set<std::pair<Device, Identity>> seen{};     // in this look
  };

  static Identity identity_of(const struct statx& status);
  void poll_files();
  Files find_files();
  void note_missing(std::set<std::string> paths);
  void keep_unreadable(Files& out) const;
  bool lacks_some(const Files& found) const;
  void add_file(const std::string& path, Look& look, Files& out);
  static void hold(File& file);
  void leave_closed(const std::string& path, File& file, const std::string& why);
  void watch_directories();
  static bool has_more(const File& file) { return file.offset < file.size || file.changed; }
  static std::string name_of(const Identity& identity);
  Split& split_of(const File& file);
  void close_split(const Identity& identity);
  void update_splits(const Files& before, Time polled);
  void find_next_idle();
  Files::iterator next_file();
  bool read(const std::string& path, File& file);
  std::size_t split(std::size_t at, std::size_t size);
  static std::string begin_anew(const std::string& path, File& file, const std::string& why);
  bool leave_out_long(const std::string& path, File& file, std::size_t at, std::size_t size);
  void set_offset(File& file, std::size_t end);
  std::uint32_t group_of(const Identity& identity) const;

  // This many steps read the file with the least watermark, and then the one whose turn it is: a file whose times stand
  // still holds no others up.
  static constexpr unsigned kStepsOfLeast = 16;

  StageSite& site_;
  const FollowOptions options_;
  FileChanges changes_;
  Files files_{};
  std::string last_{};                   // the file that was read last
  std::map<Identity, Split*> splits_{};  // open ones
  unsigned steps_ = 0;
  Time next_poll_{};                  // so it looks before it reads: files may have grown since a checkpoint
  Time next_idle_ = kNever;           // when a file may become idle
  bool ending_ = false;               // nothing more will come
  std::vector<std::string> notes_{};  // lines to log about the files that were found
  std::set<std::string> missing_{};   // paths about which there was such a line, because they named nothing
  std::map<std::string, std::string> unreadable_{};  // paths since the last look, with the reason
  std::set<std::string> troubles_{};                 // the reasons that were logged
  std::vector<char> block_{};
  std::uint64_t block_offset_ = 0;
  std::vector<std::string_view> batch_{};
  std::size_t handed_ = 0;  // number of the line in the batch that was handed on last, alone
};

}  // namespace dataflow
}  // namespace lp
