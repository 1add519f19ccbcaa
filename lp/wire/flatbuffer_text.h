#pragma once
// Text of a received FlatBuffers table. A pure function; any thread.

#include <string>

namespace flatbuffers {
struct String;
}

namespace lp::internal {

// Returns a copy; empty if the sender has left the field out.
std::string text_of(const flatbuffers::String* text);

}  // namespace lp::internal
