#include "launchers/control/node_events.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "launchers/control/control_generated.h"
#include "launchers/control/control_messages.h"
#include "lp/wire/flatbuffer_text.h"

namespace lp::launch {
namespace {

control::ReadyT table_of(const NodeEvent::Ready& ready) {
  control::ReadyT table;
  table.endpoint = ready.endpoint;
  return table;
}

control::FinishedT table_of(const NodeEvent::Finished& finished) {
  control::FinishedT table;
  for (const NodeEvent::Answer& answer : finished.answers) {
    table.callees.push_back(answer.callee);
    table.incarnations.push_back(answer.incarnation);
  }
  return table;
}

control::FailedT table_of(const NodeEvent::Failed& failed) {
  const Error& error = failed.error;
  control::FailedT table;
  table.kind = static_cast<std::uint8_t>(error.kind());
  table.text = error.text();
  table.type = error.origin().type;
  table.where = error.node();
  table.method = error.method();
  table.path = error.path();
  table.may_have_run = error.may_have_run();
  table.for_good = failed.for_good;
  return table;
}

control::StopRequestedT table_of(const NodeEvent::StopRequested& request) {
  control::StopRequestedT table;
  table.reason = request.reason;
  return table;
}

control::ProgressT table_of(const Progress& progress) {
  control::ProgressT table;
  table.step = progress.step;
  table.total = progress.total;
  for (const auto& [name, value] : progress.values) {
    auto& entry = table.values.emplace_back(std::make_unique<control::ValueT>());
    entry->name = name;
    entry->value = value;
  }
  for (const auto& [name, values] : progress.histograms) {
    auto& entry = table.histograms.emplace_back(std::make_unique<control::HistogramT>());
    entry->name = name;
    entry->count = values.count;
    entry->least = values.least;
    entry->most = values.most;
    entry->sum = values.sum;
    entry->squares = values.squares;
    entry->buckets.assign(values.buckets.begin(), values.buckets.end());
  }
  for (const auto& [name, text] : progress.texts) {
    auto& entry = table.texts.emplace_back(std::make_unique<control::TextT>());
    entry->name = name;
    entry->text = text;
  }
  return table;
}

control::SavedT table_of(const NodeEvent::Saved& saved) {
  control::SavedT table;
  table.step = saved.step;
  return table;
}

control::NotSavedT table_of(const NodeEvent::NotSaved& not_saved) {
  control::NotSavedT table;
  table.step = not_saved.step;
  table.text = not_saved.text;
  return table;
}

control::AliveT table_of(const NodeEvent::Alive&) { return {}; }

control::BusyT table_of(const NodeEvent::Busy& busy) {
  control::BusyT table;
  table.work = busy.work;
  table.age = busy.age.count();
  return table;
}

NodeEvent::Finished value_of(const control::Finished& table) {
  NodeEvent::Finished finished;
  if (table.callees() == nullptr || table.incarnations() == nullptr) return finished;
  for (flatbuffers::uoffset_t i = 0; i < std::min(table.callees()->size(), table.incarnations()->size()); ++i) {
    finished.answers.push_back({table.callees()->Get(i), table.incarnations()->Get(i)});
  }
  return finished;
}

NodeEvent::Failed value_of(const control::Failed& failed) {
  constexpr auto kLastKind = static_cast<std::uint8_t>(ErrorKind::stopped);
  ErrorOrigin origin{.type = wire::text_of(failed.type()),
                     .node = wire::text_of(failed.where()),
                     .method = wire::text_of(failed.method()),
                     .may_have_run = failed.may_have_run()};
  if (failed.path() != nullptr) {
    for (const auto* node : *failed.path()) origin.path.push_back(wire::text_of(node));
  }
  const auto kind = static_cast<ErrorKind>(std::min(failed.kind(), kLastKind));
  return {.error = Error(kind, wire::text_of(failed.text()), std::move(origin)), .for_good = failed.for_good()};
}

ValueHistogram value_of(const control::Histogram& table) {
  ValueHistogram values{.count = table.count(),
                        .least = table.least(),
                        .most = table.most(),
                        .sum = table.sum(),
                        .squares = table.squares()};
  if (table.buckets() == nullptr) return values;
  for (flatbuffers::uoffset_t i = 0; i < std::min<std::size_t>(table.buckets()->size(), values.buckets.size()); ++i) {
    values.buckets[i] = table.buckets()->Get(i);
  }
  return values;
}

// Calls take(*element) for each element; without a vector there is none.
template <class Vector, class Take>
void for_each_of(const Vector* vector, Take take) {
  if (vector == nullptr) return;
  for (const auto* element : *vector) take(*element);
}

Progress value_of(const control::Progress& table) {
  Progress progress{.step = table.step(), .total = table.total()};
  for_each_of(table.values(), [&](const control::Value& value) {
    progress.values.emplace_back(wire::text_of(value.name()), value.value());
  });
  for_each_of(table.histograms(), [&](const control::Histogram& values) {
    progress.histograms.emplace_back(wire::text_of(values.name()), value_of(values));
  });
  for_each_of(table.texts(), [&](const control::Text& text) {
    progress.texts.emplace_back(wire::text_of(text.name()), wire::text_of(text.text()));
  });
  return progress;
}

NodeEvent::What what_of(const control::NodeEvent& message) {
  switch (message.what_type()) {
    case control::Event::Ready: return NodeEvent::Ready{wire::text_of(message.what_as_Ready()->endpoint())};
    case control::Event::Failed: return value_of(*message.what_as_Failed());
    case control::Event::StopRequested:
      return NodeEvent::StopRequested{wire::text_of(message.what_as_StopRequested()->reason())};
    case control::Event::Progress: return value_of(*message.what_as_Progress());
    case control::Event::Saved: return NodeEvent::Saved{message.what_as_Saved()->step()};
    case control::Event::NotSaved: {
      const control::NotSaved& table = *message.what_as_NotSaved();
      return NodeEvent::NotSaved{table.step(), wire::text_of(table.text())};
    }
    case control::Event::Alive: return NodeEvent::Alive{};
    case control::Event::Busy: {
      const control::Busy& table = *message.what_as_Busy();
      return NodeEvent::Busy{wire::text_of(table.work()), Duration(table.age())};
    }
    case control::Event::Finished: return value_of(*message.what_as_Finished());
    case control::Event::NONE: break;  // unpack() refuses a message without an event
  }
  return NodeEvent::Finished{};
}

}  // namespace

control::NodeEventT pack_event(const NodeEvent& event) {
  control::NodeEventT message;
  message.node = event.node;
  std::visit([&](const auto& what) { message.what.Set(table_of(what)); }, event.what);
  return message;
}

NodeEvent unpack_event(const control::NodeEvent& message, std::uint32_t incarnation) {
  return {.node = message.node(), .incarnation = incarnation, .what = what_of(message)};
}

}  // namespace lp::launch
