#pragma once
// A replay server: tables of items that actors insert and learners sample. README.md shows a whole program.
//
//   lp::replay::ServerOptions options;
//   options.tables = {{.name = "transitions", .columns = columns}};
//   auto replay = program.group<lp::replay::Server>({.name = "replay", .replicas = 2}, lp::context, options);
//
// Actors insert with a TrajectoryWriter, and learners sample with a Sampler, which spread over the servers of a group.
//
// A node that only serves. Its methods run beside one another, in the threads of their callers.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "lp/checkpoint/checkpoint.h"
#include "lp/program/context.h"
#include "lp/program/node_type.h"
#include "lp/rpc/core/future.h"
#include "lp/rpc/core/method.h"
#include "nodes/replay/chunk.h"
#include "nodes/replay/replay_messages.h"
#include "nodes/replay/shared_table.h"
#include "nodes/replay/table_options.h"

namespace lp::replay {

struct ServerOptions {
  std::vector<TableOptions> tables{};
  // Beyond so many bytes of chunks in memory, the oldest chunks move to `spill`, a directory on the server's host.
  // 0: all stay in memory.
  std::uint64_t memory = 0;
  std::filesystem::path spill{};
  // Where checkpoint_file() writes, on the server's host. A server begins with the newest file there. Empty: nowhere.
  std::filesystem::path checkpoints{};
  std::uint32_t keep = 3;  // how many of the newest files stay
};

class Server {
 public:
  static constexpr std::uint32_t kMostShards = 256;  // servers of a group

  // Error::failed when an option does not fit, or a checkpoint file does not belong to these tables.
  Server(Context& context, ServerOptions options);

  // Ready when at least one item is in the table. Error::failed, with nothing inserted, when a priority is negative,
  // infinite or no number, or when the request does not fit the table. Error::overloaded when the disk is full.
  Future<InsertReply> insert(InsertRequest request);
  // Ready with at least one item.
  Future<Samples> sample(SampleRequest request);
  // These return how many of the items are still there; the others are left out. Error::failed, with nothing changed,
  // for a priority as above.
  std::uint64_t update_priorities(std::uint32_t table, const std::vector<PriorityUpdate>& updates);
  std::uint64_t remove(std::uint32_t table, const std::vector<std::uint64_t>& keys);
  // Removes all items of a table, and begins its counts anew.
  void reset(std::uint32_t table);
  ServerInfo info() const;

  // Writes all tables to a new file, which is there as a whole or not at all. Returns its path. Error::failed when
  // ServerOptions::checkpoints is empty, or the file cannot be written.
  std::string checkpoint_file();

  using Remote =
      Methods<deadline<idempotent<immediate<&Server::insert>>, 60_s>,
              deadline<idempotent<immediate<&Server::sample>>, 60_s>, idempotent<immediate<&Server::update_priorities>>,
              idempotent<immediate<&Server::remove>>, idempotent<immediate<&Server::reset>>, immediate<&Server::info>,
              idempotent<&Server::checkpoint_file>>;

 protected:
  void save_tables(Checkpoint& out) const;
  void load_tables(const Checkpoint& in);
  Context& context() { return context_; }

 private:
  void begin_with(const std::vector<std::filesystem::path>& saved);
  SharedTable& table(std::uint32_t number) const;
  ChunkRef add_chunk(ChunkData data, const SharedTable& table);
  std::vector<std::filesystem::path> files() const;
  void remove_old_files();

  Context& context_;
  const ServerOptions options_;
  const std::uint32_t shard_;
  ChunkStore store_;
  std::vector<std::unique_ptr<SharedTable>> tables_{};
};

// A server that takes part in the program's cuts: after a restart, or in a run that resumes another, it has exactly the
// items of the last cut. A Client<Server> may refer to one.
class SavedServer : public Server {
 public:
  using Server::Server;

  // Takes the server's part of the program's cut `step`. The node that decides about cuts, usually the learner, calls
  // it at every step at which it saves itself.
  void checkpoint(std::uint64_t step) { context().checkpoint(step); }

  void save(Checkpoint& out) const { save_tables(out); }
  void load(const Checkpoint& in) { load_tables(in); }

  using Remote =
      Methods<deadline<idempotent<immediate<&SavedServer::insert>>, 60_s>,
              deadline<idempotent<immediate<&SavedServer::sample>>, 60_s>,
              idempotent<immediate<&SavedServer::update_priorities>>, idempotent<immediate<&SavedServer::remove>>,
              idempotent<immediate<&SavedServer::reset>>, immediate<&SavedServer::info>,
              idempotent<&SavedServer::checkpoint_file>, idempotent<&SavedServer::checkpoint>>;
};

}  // namespace lp::replay

namespace lp {

// The tables that calls of these classes need are compiled once, in server.cc.
extern template const NodeType& internal::node_type<replay::Server>();
extern template const NodeType& internal::node_type<replay::SavedServer>();

}  // namespace lp
