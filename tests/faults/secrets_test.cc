// The secret halves of keys go to their processes, and are seen nowhere else.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "launchers/test_run.h"
#include "tests/faults/programs_for_test.h"
#include "tests/launchers/tools_for_test.h"

namespace {
std::mutex g_mutex;
std::vector<std::string> g_secrets;  // all that this process has made
}  // namespace

// ZeroMQ's, overheard.
extern "C" int zmq_curve_keypair(char* public_key, char* secret_key) {
  static const auto real = reinterpret_cast<int (*)(char*, char*)>(dlsym(RTLD_NEXT, "zmq_curve_keypair"));
  const int result = real(public_key, secret_key);
  const std::lock_guard lock(g_mutex);
  g_secrets.emplace_back(secret_key);
  return result;
}

namespace lp::test {
namespace {

TEST(Secrets, StandInNoFileAndInNoListOfProcesses) {
  g_secrets.clear();
  const Directory directory;
  const Config config{.nodes = 2};
  LaunchOptions options = processes(config, "services");
  options.curve = true;
  options.path = Path::tcp;
  options.directory = directory.path() / "run";
  TestRun run(make_services(config), options);
  EXPECT_EQ(run.client(Handle<Service>("service/1")).call<&Service::add>(1, 2), 3);
  const std::vector<std::string> secrets = g_secrets;
  EXPECT_GE(secrets.size(), run.processes().size() + 1);  // and the launcher's own

  std::string seen = command("ps axeww -o args").output;  // with the environment
  EXPECT_NE(seen.find("--lp-node=service/1"), std::string::npos) << seen;
  run.stop("enough");
  EXPECT_TRUE(run.wait().success);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory.path())) {
    if (!entry.is_regular_file()) continue;
    seen += contents(entry.path());
    ++files;
  }
  EXPECT_GE(files, 2u);  // plan, status
  for (const std::string& secret : secrets) EXPECT_EQ(seen.find(secret), std::string::npos);
}

}  // namespace
}  // namespace lp::test
