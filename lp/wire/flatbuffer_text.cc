#include "lp/wire/flatbuffer_text.h"

#include <flatbuffers/flatbuffers.h>

namespace lp::internal {

std::string text_of(const flatbuffers::String* text) { return text == nullptr ? std::string() : text->str(); }

}  // namespace lp::internal
