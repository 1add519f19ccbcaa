#include "nodes/replay/trajectory_writer.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/hash.h"
#include "lp/base/secret.h"
#include "lp/base/text.h"
#include "nodes/replay/chunk_compression.h"
#include "nodes/replay/table_location.h"

namespace lp::replay {
namespace {

const Client<Server>& server_for(const Clients<Server>& servers, int index) {
  if (servers.empty()) throw_failed("a trajectory writer needs a replay server");
  if (index < 0) throw_failed("a trajectory writer needs an index of at least 0, not " + std::to_string(index));
  return servers[static_cast<std::size_t>(index) % servers.size()];
}

WriterOptions checked(WriterOptions options) {
  if (options.window == 0 || options.chunk_steps == 0 || options.batch == 0) {
    throw_failed("a trajectory writer needs a window, chunk_steps and a batch of at least 1");
  }
  if (options.timeout <= Duration::zero()) throw_failed("a trajectory writer needs a timeout above 0");
  return options;
}

}  // namespace

TrajectoryWriter::TrajectoryWriter(const Client<Server>& server, std::string table, WriterOptions options)
    : server_(server.within(options.timeout)),
      table_(std::move(table)),
      options_(checked(options)),
      layout_(find_table(server, table_).columns),
      next_key_(fnv1a(secret_bytes(sizeof(std::uint64_t))) | std::uint64_t{1} << 63) {
  const std::uint64_t bytes = options_.chunk_steps * std::uint64_t{layout_.row_bytes()};
  if (bytes > std::numeric_limits<std::uint32_t>::max()) {
    throw_failed("a chunk of " + std::to_string(options_.chunk_steps) + " steps would have " + std::to_string(bytes) +
                 " bytes, and 4 GiB or more are too many: give the writer fewer chunk_steps");
  }
}

TrajectoryWriter::TrajectoryWriter(const Clients<Server>& servers, int index, std::string table, WriterOptions options)
    : TrajectoryWriter(server_for(servers, index), std::move(table), options) {}

std::uint32_t TrajectoryWriter::steps() const {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(appended_ - episode_, options_.window));
}

void TrajectoryWriter::begin_step() {
  if (open_.empty()) {
    open_ = Buffer::uninitialized(options_.chunk_steps * layout_.row_bytes());
    rows_ = open_.edit().data();
  }
}

void TrajectoryWriter::put(std::size_t column, Scalar type, const void* data, std::size_t count) {
  layout_.check(column, type, count);
  std::byte* const row = rows_ + open_steps_ * layout_.row_bytes();
  std::byte* const to = row + layout_.offset(column);
  const std::size_t bytes = count * size_of(type);
  std::memcpy(to, data, bytes);
  const bool last = column + 1 == layout_.columns().size();
  std::byte* const next = row + (last ? layout_.row_bytes() : layout_.offset(column + 1));
  std::fill(to + bytes, next, std::byte{0});
}

void TrajectoryWriter::end_step(std::size_t columns) {
  if (columns != layout_.columns().size()) {
    throw_failed("a step has " + std::to_string(columns) + " values, but the columns are " + layout_.text());
  }
  ++open_steps_;
  ++appended_;
  if (open_steps_ == options_.chunk_steps) close_chunk();
}

void TrajectoryWriter::add_item_to(const std::string& table, std::uint32_t steps, double priority) {
  check_priority(priority);
  if (steps == 0 || steps > this->steps()) {
    throw_failed("an item of " + std::to_string(steps) + " steps cannot be made: the episode has " +
                 std::to_string(appended_ - episode_) + " steps so far, and the writer's window is " +
                 std::to_string(options_.window));
  }
  pending_.push_back({.table = number_of(table), .steps = steps, .end = appended_, .priority = priority});
  while (!pending_.empty() && can_send() && (pending_.size() >= options_.batch || waiting_bytes() >= kMostBytes)) {
    send_batch();
  }
}

void TrajectoryWriter::end_episode() { episode_ = appended_; }

void TrajectoryWriter::flush() {
  if (!pending_.empty() && !can_send()) close_chunk();
  while (!pending_.empty()) {
    if (!can_send()) close_chunk();
    send_batch();
  }
  finish_batch();
}

std::uint32_t TrajectoryWriter::number_of(const std::string& table) {
  if (const auto found = tables_.find(table); found != tables_.end()) return found->second;
  const TableLocation place = find_table(server_, table);
  if (const std::string other = Layout(place.columns).text(); other != layout_.text()) {
    throw_failed("the steps of a writer to the replay table " + quote(table_) + " do not fit the table " +
                 quote(table) + ": the steps have the columns " + layout_.text() + ", but the table has " + other);
  }
  tables_.emplace(table, place.number);
  return place.number;
}

void TrajectoryWriter::close_chunk() {
  if (open_steps_ == 0) return;
  const std::size_t size = open_steps_ * layout_.row_bytes();
  Buffer bytes;
  if (options_.compress) {
    bytes = compress(open_.bytes().first(size));
  } else if (size < open_.size()) {
    bytes = Buffer::copy_of(open_.bytes().first(size));
  } else {
    bytes = std::exchange(open_, {});
  }
  chunks_.push_back({.begin = appended_ - open_steps_,
                     .data = {.key = 0,
                              .steps = open_steps_,
                              .compressed = options_.compress,
                              .bytes = Array<std::uint8_t>(std::move(bytes))},
                     .sent = false});
  open_steps_ = 0;
  forget_old_chunks();
}

// The bytes of the steps from the first pending item on, as far as they are in chunks that are closed.
std::uint64_t TrajectoryWriter::waiting_bytes() const {
  return (appended_ - open_steps_ - (pending_.front().end - pending_.front().steps)) * layout_.row_bytes();
}

// Whether the first pending item has all its steps in chunks that are closed.
bool TrajectoryWriter::can_send() const { return pending_.front().end <= appended_ - open_steps_; }

// Sends the first pending items, when the batch before has arrived.
void TrajectoryWriter::send_batch() {
  finish_batch();
  const PendingItem first = pending_.front();
  const auto belongs_to_batch = [&](const PendingItem& item) {
    return sent_.size() < options_.batch && item.table == first.table &&
           (item.end - first.end) * layout_.row_bytes() < kMostBytes;
  };
  while (!pending_.empty() && can_send() && belongs_to_batch(pending_.front())) {
    sent_.push_back(pending_.front());
    pending_.pop_front();
  }
  start();
}

void TrajectoryWriter::start() { reply_ = server_.async<&Server::insert>(request()); }

// Waits until the batch that is on its way is in its table.
void TrajectoryWriter::finish_batch() {
  while (!sent_.empty()) {
    try {
      Future<InsertReply> reply = std::move(reply_);
      take_reply(reply.get());
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::failed) {
        const std::string dropped = std::to_string(sent_.size());
        sent_.clear();  // to send it again would fail again
        throw Error(ErrorKind::failed,
                    error.text() + "; those of the " + dropped +
                        " items sent last that are not in the "
                        "table are dropped",
                    error.origin());
      }
      keep_batch();
      if (error.kind() == ErrorKind::deadline) fail_late(error);
      throw;
    }
    if (!sent_.empty()) start();
  }
}

void TrajectoryWriter::take_reply(const InsertReply& reply) {
  for (const std::uint64_t begin : in_request_) {
    WrittenChunk& chunk = chunks_[chunk_at(begin)];
    chunk.sent = !reply.missing && chunk.data.key != 0;
  }
  const std::size_t accepted = std::min<std::size_t>(reply.accepted, sent_.size());
  sent_.erase(sent_.begin(), sent_.begin() + static_cast<std::ptrdiff_t>(accepted));
}

// The batch did not arrive: its items are the next ones again.
void TrajectoryWriter::keep_batch() {
  for (const std::uint64_t begin : in_request_) chunks_[chunk_at(begin)].sent = false;
  pending_.insert(pending_.begin(), sent_.begin(), sent_.end());
  sent_.clear();
}

InsertRequest TrajectoryWriter::request() {
  InsertRequest request{.table = sent_.front().table};
  const std::vector<std::uint32_t> names = name_chunks(request);
  request.items.reserve(sent_.size());
  request.pieces.reserve(sent_.size());
  for (const PendingItem& item : sent_) {
    const std::size_t before = request.pieces.size();
    for (std::uint64_t step = item.end - item.steps; step < item.end;) {
      const std::size_t i = chunk_at(step);
      const auto steps = static_cast<std::uint32_t>(std::min(chunks_[i].end(), item.end) - step);
      request.pieces.push_back(
          {.chunk = names[i], .first = static_cast<std::uint32_t>(step - chunks_[i].begin), .steps = steps});
      step += steps;
    }
    request.items.push_back({.priority = item.priority, .pieces = request.pieces.size() - before});
  }
  return request;
}

// Adds the chunks that the batch refers to. Returns the position of each chunk in the request.
std::vector<std::uint32_t> TrajectoryWriter::name_chunks(InsertRequest& to) {
  std::vector<bool> needed(chunks_.size());
  for (const PendingItem& item : sent_) {
    const std::size_t last = chunk_at(item.end - 1);
    for (std::size_t i = chunk_at(item.end - item.steps); i <= last; ++i) needed[i] = true;
  }
  in_request_.clear();
  std::vector<std::uint32_t> names(chunks_.size());
  const std::uint64_t later = oldest_needed();
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    WrittenChunk& chunk = chunks_[i];
    if (!needed[i] || chunk.sent) continue;
    if (chunk.data.key == 0 && chunk.end() > later) chunk.data.key = next_key_++;
    in_request_.push_back(chunk.begin);
    names[i] = static_cast<std::uint32_t>(to.chunks.size());
    to.chunks.push_back(chunk.data);
  }
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    if (!needed[i] || !chunks_[i].sent) continue;
    in_request_.push_back(chunks_[i].begin);
    names[i] = static_cast<std::uint32_t>(to.chunks.size() + to.known.size());
    to.known.push_back(chunks_[i].data.key);
  }
  return names;
}

// The position of the closed chunk that has a step.
std::size_t TrajectoryWriter::chunk_at(std::uint64_t step) const {
  const auto behind =
      std::upper_bound(chunks_.begin(), chunks_.end(), step,
                       [](std::uint64_t number, const WrittenChunk& chunk) { return number < chunk.begin; });
  return static_cast<std::size_t>(behind - chunks_.begin()) - 1;
}

// The first step that an item may have that is not sent yet.
std::uint64_t TrajectoryWriter::oldest_needed() const {
  const std::uint64_t end = pending_.empty() ? appended_ : pending_.front().end;
  return end - std::min<std::uint64_t>(end, options_.window);
}

void TrajectoryWriter::forget_old_chunks() {
  std::uint64_t oldest = oldest_needed();
  if (!sent_.empty())
    oldest = std::min(oldest, sent_.front().end - std::min<std::uint64_t>(sent_.front().end, options_.window));
  while (!chunks_.empty() && chunks_.front().end() <= oldest) chunks_.pop_front();
}

void TrajectoryWriter::fail_late(const Error& error) const {
  std::string text = "the replay table " + quote(table_) + " had no room for " + std::to_string(pending_.size()) +
                     " items in " + duration_text(options_.timeout) + "; the writer keeps them for the next call";
  for (const TableInfo& one : server_.call<&Server::info>().tables) {
    if (one.name == table_) text += "; it has " + one.state;
  }
  throw Error(ErrorKind::deadline, text, error.origin());
}

}  // namespace lp::replay
