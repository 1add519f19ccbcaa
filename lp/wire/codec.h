#pragma once
// The header to include where values are sent and received: it has Writer, Reader, Sendable and the codecs of the
// standard types. eigen.h and flatbuffers_table.h add those of Eigen and FlatBuffers.
//
// Numbers, enums and aggregates need nothing. For a class of your own, specialise Codec in namespace lp:
//
//   template <>
//   struct lp::Codec<app::Image> {
//     static void encode(lp::Writer& out, const app::Image& image) {
//       out.value(image.width());
//       out.value(image.pixels());
//     }
//     static app::Image decode(lp::Reader& in) {
//       const auto width = in.value<int>();
//       if (width < 0) in.fail("an Image has a negative width");
//       return app::Image(width, in.value<lp::Array<float>>());
//     }
//     // Optional: the types that it sends, for the fingerprint.
//     using Parts = lp::TypeList<int, lp::Array<float>>;
//     // Optional: replaces the type's name in the fingerprint. Change it when the bytes change.
//     static std::string shape() { return "Image 2"; }
//   };
//
// encode writes at least one byte (for an empty class, too), and decode reads exactly the bytes that encode wrote.

#include "lp/wire/codec_std.h"
#include "lp/wire/dispatch.h"
