#pragma once
// The messages of HTTP/1.1: a request, read from bytes as they come, and a response. Boost.Beast reads the requests.
//
// A server owns them; one thread at a time uses them.

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lp::launch {

struct HttpRequest {
  std::string method{};                        // "GET"
  std::string path{};                          // "/runs/digits", decoded; without the query
  std::map<std::string, std::string> query{};  // decoded
  // The fields of the head. Their names are in small letters; the values of a repeated field are joined by ", ".
  std::map<std::string, std::string> fields{};
  std::string body{};
  bool chunks = true;  // the client understands a body that comes in chunks

  // Empty when there is no such field, or no such part of the query.
  std::string_view field(const std::string& name) const;
  std::string_view asked(const std::string& name) const;
};

struct HttpResponse {
  unsigned status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body{};
  std::vector<std::pair<std::string, std::string>> fields{};  // more fields of the head
};

// A response with a sentence for a person.
HttpResponse http_refusal(unsigned status, std::string_view why);

// The head, with the empty line that ends it. `framing` is the field with the end of the body; empty: the end of
// the connection. Browsers keep no copy of the response, guess no type, and do not pass on its address, which may have
// a token in it.
std::string http_head(const HttpResponse& response, const std::string& framing);

// Reads one request.
class HttpRequestReader {
 public:
  static constexpr std::size_t kLongestHead = std::size_t{16} << 10;
  static constexpr std::size_t kLongestBody = std::size_t{64} << 10;

  HttpRequestReader();
  ~HttpRequestReader();
  HttpRequestReader(HttpRequestReader&& other) noexcept;
  HttpRequestReader& operator=(HttpRequestReader&& other) noexcept;

  // Reads from the bytes that have come and that it has not used yet, and returns how many of them it uses.
  std::size_t read(std::string_view bytes);
  // The refusal of what cannot be read.
  const std::optional<HttpResponse>& refusal() const { return refusal_; }
  // The client waits for leave to send the body. True once.
  bool must_continue();
  // Returns the request when it is whole. Returns nothing before, and after a refusal.
  std::optional<HttpRequest> take();

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
  std::optional<HttpResponse> refusal_;
};

// The refusal of a request that must not be served; nothing: it may be. Its Host must be an address, localhost, or one
// of `names`: else a page of a stranger, whose own name leads here, could read the answer. And a page of another origin
// gets no answer at all.
std::optional<HttpResponse> refusal_of_origin(const HttpRequest& request, std::span<const std::string> names);

}  // namespace lp::launch
