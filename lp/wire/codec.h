#pragma once
// What to include to send and receive values: Writer, Reader, Sendable and the codecs of the standard types.
// eigen.h and table.h add Eigen's and FlatBuffers'.
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
//     using Parts = lp::TypeList<int, lp::Array<float>>;  // optional: what it sends, for the fingerprint
//     static std::string shape() { return "Image 2"; }    // optional: instead of the type's name; change it with the
//     bytes
//   };
//
// encode writes a byte or more (for a class with nothing in it, too), and decode reads exactly what encode wrote.

#include "lp/wire/codec_std.h"
#include "lp/wire/dispatch.h"
