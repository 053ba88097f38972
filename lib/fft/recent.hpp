// The objects that were used last, by key: plans are expensive to make.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace dsl::detail {

/// Keeps so many objects; the one that was not used for longest makes room. May be used by several
/// threads at once.
template <class Key, class Value>
class recent {
 public:
  explicit recent(std::size_t most) : most_(most) {}

  /// The object of the key, made by make() if it is not kept.
  template <class Make>
  std::shared_ptr<Value> get(const Key& key, const Make& make) {
    const std::lock_guard lock(mutex_);
    for (auto at = all_.begin(); at != all_.end(); ++at)
      if (at->first == key) {
        all_.splice(all_.begin(), all_, at);
        return at->second;
      }
    std::shared_ptr<Value> made = make();
    all_.emplace_front(key, made);
    if (all_.size() > most_) all_.pop_back();
    return made;
  }

 private:
  std::size_t most_;
  std::mutex mutex_;
  std::list<std::pair<Key, std::shared_ptr<Value>>> all_;
};

}  // namespace dsl::detail
