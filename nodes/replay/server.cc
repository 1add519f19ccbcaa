#include "nodes/replay/server.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/text.h"
#include "lp/checkpoint/cut.h"
#include "lp/rpc/core/call_context.h"
#include "nodes/replay/chunk_compression.h"
#include "nodes/replay/saved_chunks.h"

namespace lp::replay {
namespace {

ServerOptions checked(ServerOptions options) {
  if (options.tables.empty()) throw_failed("a replay server needs at least one table");
  std::set<std::string> names;
  for (const TableOptions& one : options.tables) {
    if (!names.insert(one.name).second) throw_failed("two tables of a replay server have the name " + quote(one.name));
  }
  if ((options.memory > 0) == options.spill.empty()) {
    throw_failed(
        "a replay server that spills to the disk needs both ServerOptions::memory and ServerOptions::spill; without "
        "spilling, TableOptions::max_bytes bounds a table");
  }
  if (options.keep == 0) throw_failed("ServerOptions::keep is 0: at least the newest checkpoint file must be kept");
  return options;
}

constexpr std::string_view kSuffix = ".checkpoint";

// The part of a file's name before its number.
std::string prefix_of(const Context& context) {
  return cut_file("", context.name()).replace_extension().string() + "-";
}

// The entries of a request, whose chunks stand in `chunks` in the order in which the request names them.
std::vector<Entry> entries_of(const InsertRequest& request, const std::vector<ChunkRef>& chunks,
                              std::size_t row_bytes) {
  auto next = request.pieces.begin();
  const auto take_piece = [&] {
    const PieceName name = next == request.pieces.end() ? PieceName() : *next++;
    if (name.steps == 0 || name.chunk >= chunks.size() || chunks[name.chunk]->row_bytes() != row_bytes ||
        std::uint64_t{name.first} + name.steps > chunks[name.chunk]->steps()) {
      throw_failed("an item has steps that its chunk does not have");
    }
    return Piece{.chunk = chunks[name.chunk], .first = name.first, .steps = name.steps};
  };
  std::vector<Entry> entries(request.items.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i].priority = request.items[i].priority;
    entries[i].piece = take_piece();
    for (std::uint64_t more = 1; more < request.items[i].pieces; ++more) entries[i].more.push_back(take_piece());
  }
  return entries;
}

}  // namespace

Server::Server(Context& context, ServerOptions options)
    : context_(context),
      options_(checked(std::move(options))),
      shard_(static_cast<std::uint32_t>(context.index())),
      store_(options_.tables.size(), options_.memory, options_.spill) {
  if (shard_ >= kMostShards) throw_failed("a group has more than " + std::to_string(kMostShards) + " replay servers");
  for (std::uint32_t i = 0; i < options_.tables.size(); ++i) {
    tables_.push_back(std::make_unique<SharedTable>(options_.tables[i], i, shard_, context.incarnation(),
                                                    context.random((std::uint64_t{context.incarnation()} << 32) + i)));
  }
  if (options_.checkpoints.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(options_.checkpoints, error);
  if (error) throw_failed(options_.checkpoints.string() + " cannot be made: " + error.message());
  if (const auto saved = files(); !saved.empty()) begin_with(saved);
}

void Server::begin_with(const std::vector<std::filesystem::path>& saved) {
  const std::string file = saved.back().string();
  try {
    load_tables(Checkpoint::read(file));
  } catch (const Error& error) {
    const std::string before = saved.size() > 1 ? saved[saved.size() - 2].string() : "no items";
    throw Error(error.kind(), "the server cannot begin with " + file + ": " + error.text() +
                                  "; if you move that file away, the server begins with " + before);
  }
}

Future<InsertReply> Server::insert(InsertRequest request) {
  SharedTable& to = table(request.table);
  std::vector<ChunkRef> chunks;
  chunks.reserve(request.chunks.size() + request.known.size());
  for (ChunkData& one : request.chunks) chunks.push_back(add_chunk(std::move(one), to));
  for (const std::uint64_t key : request.known) {
    chunks.push_back(store_.find(key));
    if (chunks.back() == nullptr) return ready(InsertReply{.accepted = 0, .missing = true});
  }
  return to.insert(entries_of(request, chunks, to.layout().row_bytes()), rpc::call_deadline());
}

Future<Samples> Server::sample(SampleRequest request) {
  if (request.count > SampleRequest::kMostItems) {
    throw_failed(std::to_string(request.count) + " items are requested in a sample, but " +
                 std::to_string(SampleRequest::kMostItems) + " is the limit");
  }
  return table(request.table).sample(request.count, rpc::call_deadline());
}

std::uint64_t Server::update_priorities(std::uint32_t number, const std::vector<PriorityUpdate>& updates) {
  return table(number).update(updates);
}

std::uint64_t Server::remove(std::uint32_t number, const std::vector<std::uint64_t>& keys) {
  return table(number).remove(keys);
}

void Server::reset(std::uint32_t number) { table(number).reset(); }

ServerInfo Server::info() const {
  ServerInfo info{.shard = shard_,
                  .bytes_in_memory = store_.bytes_in_memory(),
                  .bytes_on_disk = store_.bytes_on_disk(),
                  .tables = {}};
  for (const auto& one : tables_) info.tables.push_back(one->info());
  return info;
}

std::string Server::checkpoint_file() {
  if (options_.checkpoints.empty()) throw_failed("ServerOptions::checkpoints is empty: give the directory to write to");
  const std::vector<std::filesystem::path> saved = files();
  const std::uint64_t number = saved.empty() ? 1 : Checkpoint::inspect(saved.back()).step + 1;
  constexpr std::size_t kDigits = 12;
  std::string digits = std::to_string(number);
  digits.insert(0, kDigits - std::min(kDigits, digits.size()), '0');
  const std::filesystem::path file = options_.checkpoints / prefix_of(context_).append(digits).append(kSuffix);
  Checkpoint out;
  save_tables(out);
  out.write(file, context_.name(), number);
  remove_old_files();
  return file.string();
}

void Server::save_tables(Checkpoint& out) const {
  ChunkList chunks;
  std::vector<std::string> names;
  for (const auto& one : tables_) {
    names.push_back(one->name());
    one->save(out, chunks);
  }
  out.put("tables", names);
  save_chunks(out, chunks.chunks());
}

void Server::load_tables(const Checkpoint& in) {
  std::vector<std::string> names;
  for (const auto& one : tables_) names.push_back(one->name());
  if (const auto saved = in.get<std::vector<std::string>>("tables"); saved != names) {
    throw_failed("the checkpoint belongs to another replay server: its tables are " + join(saved, ", ") +
                 ", but here they are " + join(names, ", "));
  }
  const std::vector<ChunkRef> chunks = load_chunks(in, store_);
  for (const auto& one : tables_) one->load(in, chunks);
}

SharedTable& Server::table(std::uint32_t number) const {
  if (number < tables_.size()) return *tables_[number];
  throw_failed("a replay server has " + std::to_string(tables_.size()) + " tables, and no table has the number " +
               std::to_string(number));
}

// Returns the checkpoint files of this server, the oldest first.
std::vector<std::filesystem::path> Server::files() const {
  const std::string prefix = prefix_of(context_);
  std::vector<std::filesystem::path> files;
  for (const auto& one : std::filesystem::directory_iterator(options_.checkpoints)) {
    const std::string name = one.path().filename().string();
    if (name.starts_with(prefix) && name.ends_with(kSuffix)) files.push_back(one.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// A file that cannot be removed stays.
void Server::remove_old_files() {
  std::vector<std::filesystem::path> saved = files();
  if (saved.size() > options_.keep)
    saved.resize(saved.size() - options_.keep);
  else
    saved.clear();
  for (std::error_code error; const auto& one : saved) std::filesystem::remove(one, error);
}

ChunkRef Server::add_chunk(ChunkData data, const SharedTable& to) {
  const std::uint64_t rows = std::uint64_t{data.steps} * to.layout().row_bytes();
  const std::uint64_t size = data.compressed ? size_of_compressed(data.bytes.buffer().bytes()) : data.bytes.size();
  if (data.steps > 0 && size == rows) return store_.add(std::move(data), to.layout().row_bytes());
  throw_failed("a chunk of " + std::to_string(data.steps) + " steps has " + std::to_string(size) + " bytes, but " +
               std::to_string(rows) + " are needed for the columns of the replay table " + quote(to.name()) + " (" +
               to.layout().text() + "): all steps of a table have the same shape");
}

}  // namespace lp::replay

namespace lp {
template const NodeType& internal::node_type<replay::Server>();
template const NodeType& internal::node_type<replay::SavedServer>();
}  // namespace lp
