#include "launchers/http/http_message.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

namespace lp::launch {
namespace {

namespace http = boost::beast::http;

constexpr auto kBadRequest = static_cast<unsigned>(http::status::bad_request);
constexpr auto kForbidden = static_cast<unsigned>(http::status::forbidden);

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  for (char& c : small) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return small;
}

HttpResponse refusal_of_bytes(const boost::system::error_code& error) {
  if (error == http::error::header_limit) {
    return http_refusal(
        431, "the head of a request may have at most " + std::to_string(HttpRequestReader::kLongestHead) + " bytes");
  }
  if (error == http::error::body_limit) {
    return http_refusal(
        413, "the body of a request may have at most " + std::to_string(HttpRequestReader::kLongestBody) + " bytes");
  }
  return http_refusal(kBadRequest, "this is no request of HTTP/1.1: " + error.message());
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Nothing for a malformed text, and for one with control characters.
std::optional<std::string> decoded_part(std::string_view text, bool plus_is_space) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      const int high = i + 2 < text.size() ? digit_of(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? digit_of(text[i + 2]) : -1;
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>(high * 16 + low);
      i += 2;
    } else if (c == '+' && plus_is_space) {
      c = ' ';
    }
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return std::nullopt;
    decoded += c;
  }
  return decoded;
}

bool read_query(std::string_view text, std::map<std::string, std::string>& query) {
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t equals = std::min(part.find('='), part.size());
    const auto name = decoded_part(part.substr(0, equals), true);
    const auto value = decoded_part(part.substr(std::min(part.size(), equals + 1)), true);
    if (!name.has_value() || !value.has_value()) return false;
    query[*name] = *value;
  }
  return true;
}

bool read_target(std::string_view target, HttpRequest& request) {
  const std::string_view path = target.substr(0, target.find('?'));
  const auto decoded = decoded_part(path, false);
  if (!decoded.has_value() || !decoded->starts_with('/')) return false;
  request.path = *decoded;
  return path.size() == target.size() || read_query(target.substr(path.size() + 1), request.query);
}

std::string_view value_of(const std::map<std::string, std::string>& values, const std::string& name) {
  const auto at = values.find(name);
  return at == values.end() ? std::string_view() : at->second;
}

bool is_address(const std::string& text) {
  std::array<std::byte, sizeof(in6_addr)> address;
  if (text.starts_with('[') && text.ends_with(']')) {
    return inet_pton(AF_INET6, text.substr(1, text.size() - 2).c_str(), address.data()) == 1;
  }
  return inet_pton(AF_INET, text.c_str(), address.data()) == 1;
}

bool is_own_host(std::string_view host, std::span<const std::string> names) {
  const std::size_t colon = host.rfind(':');
  const std::size_t bracket = host.rfind(']');
  const bool has_port = colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  const std::string name = in_small_letters(host.substr(0, has_port ? colon : host.size()));
  return is_address(name) || name == "localhost" ||
         std::any_of(names.begin(), names.end(), [&](const auto& one) { return in_small_letters(one) == name; });
}

constexpr std::string_view kShortestLastChunk = "0\r\n\r\n";

}  // namespace

struct HttpRequestReader::Parser {
  http::request_parser<http::string_body> request;
  bool continued = false;
};

HttpRequestReader::HttpRequestReader() : parser_(std::make_unique<Parser>()) {
  parser_->request.eager(true);
  parser_->request.header_limit(kLongestHead);
  parser_->request.body_limit(kLongestBody);
}

HttpRequestReader::~HttpRequestReader() = default;
HttpRequestReader::HttpRequestReader(HttpRequestReader&& other) noexcept = default;
HttpRequestReader& HttpRequestReader::operator=(HttpRequestReader&& other) noexcept = default;

std::size_t HttpRequestReader::read(std::string_view bytes) {
  const auto& request = parser_->request;
  if (refusal_.has_value() || request.is_done()) return 0;
  // Beast demands the whole of the shortest last chunk, once it has seen the beginning of a last chunk.
  if (request.is_header_done() && request.chunked() && bytes.size() < kShortestLastChunk.size()) return 0;
  boost::system::error_code error;
  const std::size_t used = parser_->request.put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
  if (error && error != http::error::need_more) refusal_ = refusal_of_bytes(error);
  return used;
}

bool HttpRequestReader::must_continue() {
  const auto& request = parser_->request;
  if (parser_->continued || !request.is_header_done() || request.is_done()) return false;
  parser_->continued = true;
  return in_small_letters(std::string(request.get()[http::field::expect])) == "100-continue";
}

std::optional<HttpRequest> HttpRequestReader::take() {
  if (refusal_.has_value() || !parser_->request.is_done()) return std::nullopt;
  auto message = parser_->request.release();
  HttpRequest request{.method = std::string(message.method_string()),
                      .body = std::move(message.body()),
                      .chunks = message.version() >= 11};
  if (!read_target(std::string(message.target()), request)) {
    refusal_ = http_refusal(kBadRequest, "the path of a request begins with / and has no control characters");
    return std::nullopt;
  }
  if (message.count(http::field::host) > 1) {
    refusal_ = http_refusal(kBadRequest, "a request names one Host");
    return std::nullopt;
  }
  for (const auto& field : message) {
    std::string& value = request.fields[in_small_letters(std::string(field.name_string()))];
    if (!value.empty()) value += ", ";
    value += std::string(field.value());
  }
  return request;
}

std::string_view HttpRequest::field(const std::string& name) const { return value_of(fields, name); }
std::string_view HttpRequest::asked(const std::string& name) const { return value_of(query, name); }

HttpResponse http_refusal(unsigned status, std::string_view why) {
  return {.status = status, .body = std::string(why) + "\n"};
}

std::string http_head(const HttpResponse& response, const std::string& framing) {
  const auto reason = http::obsolete_reason(http::int_to_status(response.status));
  std::string head = "HTTP/1.1 " + std::to_string(response.status) + " " + std::string(reason) + "\r\n" +
                     "Content-Type: " + response.type + "\r\n" + framing + (framing.empty() ? "" : "\r\n") +
                     "Connection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                     "Referrer-Policy: no-referrer\r\n";
  for (const auto& [name, value] : response.fields) head += name + ": " + value + "\r\n";
  return head + "\r\n";
}

std::optional<HttpResponse> refusal_of_origin(const HttpRequest& request, std::span<const std::string> names) {
  const std::string_view host = request.field("host");
  if (host.empty()) return http_refusal(kBadRequest, "a request names its Host");
  if (!is_own_host(host, names)) {
    return http_refusal(kForbidden, "this server is not known by that name: use its address, or localhost");
  }
  const std::string_view origin = request.field("origin");
  const std::size_t scheme = origin.find("://");
  const bool same =
      scheme != std::string_view::npos && in_small_letters(origin.substr(scheme + 3)) == in_small_letters(host);
  if (!origin.empty() && !same) return http_refusal(kForbidden, "a page of another origin may not ask this server");
  return std::nullopt;
}

}  // namespace lp::launch
