#include "launchers/os/terminal.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <deque>
#include <mutex>
#include <string_view>
#include <utility>

#include "lp/base/text.h"

namespace lp::launch {
namespace {
constexpr std::size_t kFull = std::size_t{1} << 20;
constexpr auto kProgressPeriod = std::chrono::milliseconds(100);
constexpr auto kProgressLinePeriod = std::chrono::seconds(5);  // the period where the line cannot be overwritten
constexpr std::string_view kClearLine = "\r\033[K";
// A line that is longer than the terminal is wide must not go on in the next row: kClearLine clears only one row.
constexpr std::string_view kNoWrap = "\033[?7l", kWrap = "\033[?7h";
}  // namespace

struct Terminal::State {
  struct Piece {
    bool error = false;
    std::string text;
  };

  explicit State(Options given) : options(std::move(given)), tty{isatty(options.out) == 1, isatty(options.err) == 1} {}

  Options options;
  const std::array<bool, 2> tty;
  std::mutex mutex;
  std::deque<Piece> pieces;
  std::size_t size = 0;  // bytes of all pieces
  bool was_full = false;
  bool busy = false;
  bool ending = false;
  std::string progress;
  bool progress_changed = false;
  Event* flushed = nullptr;  // signals the caller that waits in flush()
  Event work;
  std::array<bool, 2> closed{};  // the reader has closed the stream, so its text is dropped

  void put(bool error, std::string_view text) {
    const int fd = error ? options.err : options.out;
    while (!text.empty() && !closed[error]) {
      const ssize_t written = ::write(fd, text.data(), text.size());
      if (written < 0 && (errno == EINTR)) continue;
      if (written < 0 && errno == EAGAIN) {  // another process made the terminal non-blocking
        Poller poller;
        poller.add(fd, 0, true);
        std::array<Poller::Ready, 1> ready;
        poller.wait(ready, kNever);
        continue;
      }
      if (written < 0) {
        closed[error] = true;
        return;
      }
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  void serve() {
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    bool shown = false;  // the terminal shows a progress line
    Time next_progress = now();
    for (;;) {
      std::deque<Piece> batch;
      std::string line;
      bool line_changed = false;
      bool last = false;
      {
        const std::lock_guard lock(mutex);
        batch.swap(pieces);
        size = 0;
        busy = true;
        last = ending;
        if (progress_changed && (last || now() >= next_progress)) {
          progress_changed = false;
          line_changed = true;
        }
        line = progress;
      }
      const bool redraw = !batch.empty() || line_changed;
      if (shown && redraw) {
        put(true, kClearLine);
        shown = false;
      }
      for (const Piece& piece : batch) put(piece.error, piece.text);
      if (redraw && tty[1] && !line.empty()) {
        put(true, std::string(kNoWrap).append(line).append(kWrap));
        shown = true;
      } else if (line_changed && !tty[1] && !line.empty()) {
        put(true, line + "\n");
      }
      if (line_changed) next_progress = after(tty[1] ? Duration(kProgressPeriod) : Duration(kProgressLinePeriod));
      Time until = kNever;
      bool drained = false;
      {
        const std::lock_guard lock(mutex);
        busy = false;
        if (pieces.empty()) {
          drained = std::exchange(was_full, false);
          if (flushed != nullptr) std::exchange(flushed, nullptr)->set();
          if (last) break;
        } else {
          continue;
        }
        if (progress_changed) until = next_progress;
      }
      if (drained && options.drained) options.drained();
      work.wait(until);
    }
    if (shown) put(true, "\n");
  }
};

Terminal::Terminal(Options options) : state_(std::make_shared<State>(std::move(options))) {
  thread_ = spawn("terminal", [state = state_] { state->serve(); });
}

Terminal::~Terminal() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ending = true;
  }
  state_->work.set();
  if (!thread_.join_until(after(std::chrono::seconds(1)))) thread_.abandon();
}

bool Terminal::colours(bool error) const { return state_->tty[error]; }

void Terminal::write(bool error, std::string text) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->size += text.size();
    state_->was_full = state_->was_full || state_->size >= kFull;
    state_->pieces.push_back({error, std::move(text)});
  }
  state_->work.set();
}

void Terminal::progress(std::string line) {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->progress == line) return;
    state_->progress = std::move(line);
    state_->progress_changed = true;
  }
  state_->work.set();
}

bool Terminal::full() const {
  const std::lock_guard lock(state_->mutex);
  return state_->was_full;
}

bool Terminal::flush(Time until) {
  Event done;
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->pieces.empty() && !state_->busy) return true;
    state_->flushed = &done;
  }
  if (done.wait(until)) return true;
  const std::lock_guard lock(state_->mutex);
  return std::exchange(state_->flushed, nullptr) == nullptr;
}

void warn(Terminal* terminal, const std::string& text) {
  if (terminal == nullptr) return log_line(text);
  terminal->write(true, "lp: " + text + "\n");
}

}  // namespace lp::launch
