#pragma once
// A move-only callable, like std::function, for closures that own things. Small closures are stored in place.
//
// Owned by its holder; no thread may use it while another does.

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace lp {

template <class Signature>
class Function;

template <class R, class... Args>
class Function<R(Args...)> {
 public:
  Function() = default;
  Function(std::nullptr_t) {}

  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, Function> && std::is_invocable_r_v<R, std::decay_t<F>&, Args...>)
  Function(F&& callable) {
    using Stored = std::decay_t<F>;
    if constexpr (fits<Stored>) {
      ::new (storage()) Stored(std::forward<F>(callable));
    } else {
      ::new (storage()) Stored*(new Stored(std::forward<F>(callable)));
    }
    operations_ = &kOperations<Stored>;
  }

  Function(Function&& other) noexcept { take(other); }
  Function& operator=(Function&& other) noexcept {
    if (this != &other) {
      reset();
      take(other);
    }
    return *this;
  }
  ~Function() { reset(); }

  explicit operator bool() const { return operations_ != nullptr; }

  R operator()(Args... args) { return operations_->call(storage(), std::forward<Args>(args)...); }

 private:
  static constexpr std::size_t kRoom = 6 * sizeof(void*);

  template <class F>
  static constexpr bool fits = sizeof(F) <= kRoom &&
                               alignof(F) <= alignof(std::max_align_t) && std::is_nothrow_move_constructible_v<F>;

  struct Operations {
    R (*call)(void*, Args&&...);
    void (*move)(void* from, void* to) noexcept;  // leaves nothing to destroy in `from`
    void (*destroy)(void*) noexcept;
  };

  template <class F>
  static F& target(void* at) {
    if constexpr (fits<F>) {
      return *std::launder(static_cast<F*>(at));
    } else {
      return **static_cast<F**>(at);
    }
  }

  template <class F>
  static constexpr Operations kOperations{
      [](void* at, Args&&... args) -> R { return static_cast<R>(target<F>(at)(std::forward<Args>(args)...)); },
      [](void* from, void* to) noexcept {
        if constexpr (fits<F>) {
          ::new (to) F(std::move(target<F>(from)));
          target<F>(from).~F();
        } else {
          ::new (to) F*(*static_cast<F**>(from));
        }
      },
      [](void* at) noexcept {
        if constexpr (fits<F>) {
          target<F>(at).~F();
        } else {
          delete *static_cast<F**>(at);
        }
      }};

  void* storage() { return storage_; }
  void take(Function& other) noexcept {
    if (other.operations_ == nullptr) return;
    operations_ = std::exchange(other.operations_, nullptr);
    operations_->move(other.storage_, storage_);
  }
  void reset() noexcept {
    if (operations_ != nullptr) std::exchange(operations_, nullptr)->destroy(storage_);
  }

  alignas(std::max_align_t) std::byte storage_[kRoom];
  const Operations* operations_ = nullptr;
};

}  // namespace lp
