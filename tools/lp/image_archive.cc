#include "tools/lp/image_archive.h"

#include <elf.h>
#include <stdlib.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include "launchers/os/run_command.h"
#include "lp/base/error.h"
#include "lp/base/file.h"
#include "lp/base/json.h"
#include "tools/lp/command_error.h"
#include "tools/lp/elf_machine.h"

namespace lp::tool {
namespace {

namespace fs = std::filesystem;

constexpr auto kToolTimeout = std::chrono::minutes(5);  // for tar and similar tools
constexpr const char* kUser = "65532:65532";
constexpr const char* kManifestType = "application/vnd.oci.image.manifest.v1+json";
constexpr const char* kConfigType = "application/vnd.oci.image.config.v1+json";
constexpr const char* kLayerType = "application/vnd.oci.image.layer.v1.tar";

std::string output_of(const std::vector<std::string>& command) {
  try {
    return launch::run_or_throw(command, kToolTimeout).text;
  } catch (const Error& error) {
    throw CommandError(Exit::failed, error.text());
  }
}

// The name of this kind of machine in OCI.
std::string architecture() {
  switch (machine_of("/proc/self/exe")) {
    case EM_X86_64: return "amd64";
    case EM_AARCH64: return "arm64";
    default: throw CommandError(Exit::failed, "images can be made only on amd64 and arm64");
  }
}

// A directory that is removed with its owner.
class Workplace {
 public:
  Workplace() {
    std::string path = (fs::temp_directory_path() / "lp-image-XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr) throw CommandError(Exit::failed, path + ": " + std::strerror(errno));
    path_ = path;
  }
  ~Workplace() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void make_directories(const fs::path& root, const fs::path& below) {
  fs::path path = root;
  for (const fs::path& part : below) {
    path /= part;
    if (fs::create_directory(path)) fs::permissions(path, fs::perms(0755));
  }
}

void add_file(const fs::path& root, const fs::path& from, const fs::path& to) {
  make_directories(root, to.parent_path().relative_path());
  fs::copy_file(from, root / to.relative_path(), fs::copy_options::overwrite_existing);
  fs::permissions(root / to.relative_path(), fs::perms(0755));
}

void add_text(const fs::path& root, const fs::path& to, const std::string& text) {
  make_directories(root, to.parent_path().relative_path());
  write_file(root / to.relative_path(), text);
  fs::permissions(root / to.relative_path(), fs::perms(0644));
}

void pack(const fs::path& directory, const fs::path& archive) {
  output_of({"tar", "--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "--format=ustar",
             "--directory=" + directory.string(), "--create", "--file=" + archive.string(), "."});
}

// A file among the blobs of an image, named after its hash.
struct Blob {
  std::string hash{};  // SHA-256 in hexadecimal digits
  std::uintmax_t size = 0;
  std::string digest() const { return "sha256:" + hash; }
  std::string path() const { return "blobs/sha256/" + hash; }
};

Blob add_blob(const fs::path& layout, const fs::path& file) {
  Blob blob{.hash = output_of({"sha256sum", file.string()}).substr(0, 64), .size = fs::file_size(file)};
  make_directories(layout, "blobs/sha256");
  fs::rename(file, layout / blob.path());
  fs::permissions(layout / blob.path(), fs::perms(0644));
  return blob;
}

Blob add_blob(const fs::path& layout, const std::string& text) {
  const fs::path file = layout.parent_path() / "blob";
  write_file(file, text);
  return add_blob(layout, file);
}

void describe(JsonWriter& json, const char* type, const Blob& blob) {
  json.member("mediaType", type);
  json.member("digest", blob.digest());
  json.member("size", blob.size);
}

std::string config_of(const fs::path& program, const std::string& library_path, const Blob& layer) {
  JsonWriter json;
  json.begin_object();
  json.member("architecture", architecture());
  json.member("os", "linux");
  json.key("config");
  json.begin_object();
  json.member("User", kUser);
  json.member("WorkingDir", "/tmp");
  std::vector<std::string> environment{"PATH=/bin", "HOME=/tmp"};
  if (!library_path.empty()) environment.push_back("LD_LIBRARY_PATH=" + library_path);
  json.member("Env", environment);
  json.member("Entrypoint", std::vector<std::string>{program.string()});
  json.end_object();
  json.key("rootfs");
  json.begin_object();
  json.member("type", "layers");
  json.member("diff_ids", std::vector<std::string>{layer.digest()});
  json.end_object();
  json.end_object();
  return std::move(json).text();
}

std::string manifest_of(const Blob& config, const Blob& layer) {
  JsonWriter json;
  json.begin_object();
  json.member("schemaVersion", 2);
  json.member("mediaType", kManifestType);
  json.key("config");
  json.begin_object();
  describe(json, kConfigType, config);
  json.end_object();
  json.key("layers");
  json.begin_array();
  json.begin_object();
  describe(json, kLayerType, layer);
  json.end_object();
  json.end_array();
  json.end_object();
  return std::move(json).text();
}

std::string index_of(const Blob& manifest, const std::string& tag) {
  JsonWriter json;
  json.begin_object();
  json.member("schemaVersion", 2);
  json.key("manifests");
  json.begin_array();
  json.begin_object();
  describe(json, kManifestType, manifest);
  json.key("annotations");
  json.begin_object();
  json.member("io.containerd.image.name", tag.find('/') == std::string::npos ? "docker.io/library/" + tag : tag);
  json.member("org.opencontainers.image.ref.name", tag.substr(tag.rfind(':') + 1));
  json.end_object();
  json.end_object();
  json.end_array();
  json.end_object();
  return std::move(json).text();
}

// The manifest for `docker load`.
std::string docker_manifest_of(const Blob& config, const Blob& layer, const std::string& tag) {
  JsonWriter json;
  json.begin_array();
  json.begin_object();
  json.member("Config", config.path());
  json.member("RepoTags", std::vector<std::string>{tag});
  json.member("Layers", std::vector<std::string>{layer.path()});
  json.end_object();
  json.end_array();
  return std::move(json).text();
}

}  // namespace

std::vector<fs::path> libraries_of(const fs::path& binary) {
  if (machine_of(binary) == EM_NONE) throw CommandError(Exit::failed, binary.string() + " is not a program");
  refuse_other_machine(binary);
  // The output has lines like "libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x...)",
  // "/lib64/ld-linux-x86-64.so.2 (0x...)" and "libx.so => not found".
  const launch::Output output = launch::run({"ldd", binary.string()}, kToolTimeout);
  if (output.code == launch::Output::kNotStarted) throw CommandError(Exit::failed, output.errors);
  std::vector<fs::path> libraries;
  std::string missing;
  std::istringstream lines(output.text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, word;
    words >> name >> word;
    if (line.find("=> not found") != std::string::npos) missing += (missing.empty() ? "" : ", ") + name;
    if (word == "=>") words >> name;
    if (name.starts_with('/') && fs::exists(name)) libraries.emplace_back(name);
  }
  if (!missing.empty())
    throw CommandError(Exit::failed, binary.string() + " needs libraries that are not on this machine: " + missing);
  return libraries;
}

void write_image(const fs::path& binary, const std::string& tag, const fs::path& archive) {
  try {
    const Workplace workplace;
    const fs::path root = workplace.path() / "root", layout = workplace.path() / "layout";
    fs::create_directory(root);
    fs::permissions(root, fs::perms(0755));
    fs::create_directory(layout);
    const fs::path program = "/bin" / binary.filename();
    std::set<std::string> directories;  // directories in which the loader does not search by itself
    for (const fs::path& library : libraries_of(binary)) {
      add_file(root, library, library);
      const std::string directory = library.parent_path().string();
      if (!directory.starts_with("/lib") && !directory.starts_with("/usr/lib")) directories.insert(directory);
    }
    std::string library_path;
    for (const std::string& directory : directories) library_path += (library_path.empty() ? "" : ":") + directory;
    add_file(root, binary, program);
    add_text(root, "/etc/passwd", "root:x:0:0::/:\nlp:x:65532:65532::/tmp:\n");
    add_text(root, "/etc/group", "root:x:0:\nlp:x:65532:\n");
    add_text(root, "/etc/nsswitch.conf", "hosts: files dns\n");
    make_directories(root, "tmp");
    fs::permissions(root / "tmp", fs::perms(01777));
    pack(root, workplace.path() / "layer.tar");

    const Blob layer = add_blob(layout, workplace.path() / "layer.tar");
    const Blob config = add_blob(layout, config_of(program, library_path, layer));
    const Blob manifest = add_blob(layout, manifest_of(config, layer));
    add_text(layout, "oci-layout", "{\"imageLayoutVersion\":\"1.0.0\"}");
    add_text(layout, "index.json", index_of(manifest, tag));
    add_text(layout, "manifest.json", docker_manifest_of(config, layer, tag));
    pack(layout, fs::absolute(archive));
  } catch (const fs::filesystem_error& error) {
    throw CommandError(Exit::failed, error.what());
  }
}

}  // namespace lp::tool
