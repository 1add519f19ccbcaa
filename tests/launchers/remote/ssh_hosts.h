#pragma once
// Hosts that ssh reaches, on this machine: for each connection a real sshd, which ssh starts itself (ProxyCommand) with
// the connection as its standard input and output. So there is no port, and no daemon that could be left. Owned by a
// test; one thread.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/directory.h"
#include "tests/launchers/tools_for_test.h"
#include "tests/lp/gpu/stand_in.h"

namespace lp::test {

class SshHosts {
 public:
  // h1, h2 and h3 accept this user's new key; h4 has another host key than the known one. On h2, `wrapper` is a command
  // that runs the rest of its line.
  explicit SshHosts(const std::string& wrapper = {}) {
    const std::string key = (directory() / "key").string();
    for (const std::string name : {"key", "host_key", "other_key"}) {
      const Ended made = command("ssh-keygen -q -t ed25519 -N '' -f " + (directory() / name).string());
      EXPECT_EQ(made.code, 0) << made.output;
    }
    std::filesystem::copy_file(key + ".pub", directory() / "authorized_keys");
    if (geteuid() == 0) std::filesystem::create_directories("/run/sshd");  // where root's sshd separates privileges
    boot();
    std::ofstream known(directory() / "known_hosts");
    for (const std::string name : {"h1", "h2", "h3"}) known << name << " " << contents(directory() / "host_key.pub");
    known << "h4 " << contents(directory() / "other_key.pub");
    const std::string sshd =
        " /usr/sbin/sshd -i -f " + (directory() / "sshd_config").string() + " -o PidFile=none -o VersionAddendum=%n\n";
    std::ofstream(directory() / "ssh_config")
        << "Host h2\n ProxyCommand " << wrapper << sshd << "Host *\n IdentityFile " << key
        << "\n IdentitiesOnly yes\n UserKnownHostsFile " << (directory() / "known_hosts").string()
        << "\n GlobalKnownHostsFile /dev/null\n StrictHostKeyChecking yes\n"
        << " HashKnownHosts no\n LogLevel ERROR\n ProxyCommand" << sshd;
  }

  // From now on, all hosts refuse new connections; or accept them, and have these of ten GPUs, if any are named.
  void shut_down() const { std::filesystem::remove(directory() / "sshd_config"); }
  void boot(const std::string& gpus = {}) const {
    std::string variables;  // programs there do not inherit our variables
    if (!gpus.empty()) variables += " CUDA_VISIBLE_DEVICES=" + gpus + with_ten_gpus();
    if (const char* const options = std::getenv("TSAN_OPTIONS")) {
      variables += std::string(" \"TSAN_OPTIONS=") + options + "\"";
    }
    const std::filesystem::path next = directory() / "sshd_config.next";
    std::ofstream(next) << "HostKey " << (directory() / "host_key").string() << "\n"
                        << "AuthorizedKeysFile " << (directory() / "authorized_keys").string()
                        << "\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"
                        << "KbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n"
                        << (variables.empty() ? "" : "SetEnv" + variables + "\n");
    std::filesystem::rename(next, directory() / "sshd_config");
  }

  // The flags of a launch on them.
  std::string ssh() const { return "--ssh=ssh -F " + (directory() / "ssh_config").string(); }
  static std::string hosts(const std::string& names) { return "--hosts=" + names; }

  const std::filesystem::path& directory() const { return directory_.path(); }

 private:
  // The variables with which programs there find a driver, and GPU-0 to GPU-9.
  std::string with_ten_gpus() const {
    std::ofstream facts(directory() / "gpus");
    facts << "driver 580.95.05 13000\n";
    for (int i = 0; i < 10; ++i) facts << "gpu GPU-" << i << " 85899345920 0 0 NVIDIA H100\n";
    return " NVML_STAND_IN=" + (directory() / "gpus").string() +
           " LD_LIBRARY_PATH=" + std::filesystem::path(GpuStandIn::library()).parent_path().string();
  }

  const Directory directory_;
};

}  // namespace lp::test
