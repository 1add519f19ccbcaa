// Frames that name bytes elsewhere: some receivers get the name, and others the bytes.

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "lp/base/error.h"
#include "lp/wire/codec.h"

namespace lp {
namespace {

constexpr std::size_t kName = 8192;    // bytes
constexpr std::size_t kBytes = 40000;  // that are elsewhere

class Far final : public Buffer::Elsewhere {
 public:
  std::uint64_t place() const noexcept override { return 7; }
  Buffer here() override {
    if (lost) throw_failed("they are lost");
    Buffer bytes = Buffer::uninitialized(kBytes);
    std::memset(bytes.edit().data(), 'x', kBytes);
    return bytes;
  }
  bool lost = false;
};

class At final : public MessageReceiver {
 public:
  explicit At(std::uint64_t place) : place_(place) {}
  bool opens(std::uint64_t place) const override { return place == place_; }

 private:
  std::uint64_t place_;
};

Buffer named(std::shared_ptr<Far> far) { return Buffer::naming(Buffer::zeroed(kName), std::move(far)); }

// A message with the array, by its name if the receiver opens the place.
Message message_for(const MessageReceiver* receiver, const std::shared_ptr<Far>& far) {
  Writer writer;
  writer.set_receiver(receiver);
  writer.count(kBytes);
  if (!writer.name(named(far))) writer.array(far->here());
  return writer.take();
}

TEST(Names, AreForReceiversThatOpenThePlace) {
  const auto far = std::make_shared<Far>();
  const At there(7);
  const At elsewhere(8);
  EXPECT_EQ(message_for(&there, far).arrays.at(0).size(), kName);
  EXPECT_EQ(message_for(&elsewhere, far).arrays.at(0).size(), kBytes);
  EXPECT_EQ(message_for(nullptr, far).arrays.at(0).size(), kBytes);
}

TEST(Names, AreReadAsSuchAndArraysAsArrays) {
  const auto far = std::make_shared<Far>();
  const At there(7);
  const Message by_name = message_for(&there, far);
  Reader reader(by_name.body.bytes(), by_name.arrays);
  EXPECT_EQ(reader.name(reader.number<std::uint64_t>(), 1, kName).size(), kName);
  reader.finish();
  const Message as_bytes = message_for(nullptr, far);
  Reader other(as_bytes.body.bytes(), as_bytes.arrays);
  const auto count = other.number<std::uint64_t>();
  EXPECT_TRUE(other.name(count, 1, kName).empty());
  EXPECT_EQ(other.shared_array(count, 1, 1).size(), kBytes);
  other.finish();
}

TEST(Names, AnArrayOfTheSizeOfANameIsAnArray) {
  const Message message{.arrays = {Buffer::zeroed(kName)}};
  Reader reader(message.body.bytes(), message.arrays);
  EXPECT_TRUE(reader.name(kName, 1, kName).empty());
  EXPECT_EQ(reader.shared_array(kName, 1, 1).size(), kName);
}

TEST(Names, AreReplacedForAnotherReceiver) {
  const auto far = std::make_shared<Far>();
  const At there(7);
  const At elsewhere(8);
  Message message = message_for(&there, far);
  replace_names(message, there);
  EXPECT_EQ(message.arrays.at(0).size(), kName);
  Message lost = message;
  replace_names(message, elsewhere);
  EXPECT_EQ(message.arrays.at(0).size(), kBytes);
  EXPECT_EQ(message.arrays.at(0).elsewhere(), nullptr);
  far->lost = true;
  EXPECT_THROW(replace_names(lost, elsewhere), Error);
}

TEST(Names, KeepTheBytesAndTheirOwnerAsLongAsTheFrame) {
  auto far = std::make_shared<Far>();
  auto owner = std::make_shared<int>(1);
  const std::weak_ptr<Far> bytes = far;
  const std::weak_ptr<int> kept = owner;
  const At there(7);
  Message message;
  {
    Writer writer;
    writer.set_receiver(&there);
    writer.keep(std::move(owner));
    EXPECT_TRUE(writer.name(named(std::move(far))));
    message = writer.take();
  }
  EXPECT_FALSE(bytes.expired());
  EXPECT_FALSE(kept.expired());
  message = {};
  EXPECT_TRUE(bytes.expired());
  EXPECT_TRUE(kept.expired());
}

TEST(Names, BeyondTheFramesOfAMessageThereAreNone) {
  const auto far = std::make_shared<Far>();
  const At there(7);
  Writer writer;
  writer.set_receiver(&there);
  for (std::size_t i = 0; i < kMaxArrayFrames; ++i) EXPECT_TRUE(writer.name(named(far)));
  EXPECT_FALSE(writer.name(named(far)));
}

}  // namespace
}  // namespace lp
