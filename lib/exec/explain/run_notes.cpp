// Prints or collects explanations of the expressions that a program runs (DSL_EXPLAIN=1).
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "exec/explain/explain.hpp"

namespace dsl::detail {

struct explained_runs::list { std::vector<explanation> all; };

namespace {

thread_local explained_runs* collecting = nullptr;
// An explanation runs kernels of its own to measure the device; these are not explained.
thread_local bool explains = false;

bool is_asked_for() {
  static const bool asked = [] {
    const char* const value = std::getenv("DSL_EXPLAIN");
    if (value == nullptr || *value == '\0' || std::string(value) == "0") return false;
    if (std::string(value) != "1")
      raise<value_error>(std::string("DSL_EXPLAIN is \"") + value + "\"; valid are 0 and 1");
    return true;
  }();
  return asked;
}

std::mutex printing;

}  // namespace

explained_runs::explained_runs() : list_(new list), outer_(collecting) { collecting = this; }
explained_runs::~explained_runs() {
  collecting = outer_;
  delete list_;
}
int explained_runs::count() const { return static_cast<int>(list_->all.size()); }
const explanation& explained_runs::operator[](int call) const {
  return list_->all[static_cast<std::size_t>(call)];
}

bool run_notes::wanted() { return !explains && (collecting != nullptr || is_asked_for()); }

bool run_notes::begin(const std::vector<const void*>& identity) {
  if (collecting == nullptr) {
    static std::set<std::vector<const void*>> known;
    const std::lock_guard lock(printing);
    if (!known.insert(identity).second) return false;
  }
  explains = true;
  return true;
}

void run_notes::end(const explanation& made) {
  explains = false;
  if (collecting != nullptr) return collecting->list_->all.push_back(made);
  if (*made.text().c_str() == '\0') return;
  const std::lock_guard lock(printing);
  std::fprintf(stderr, "%s\n", made.text().c_str());
}

}  // namespace dsl::detail

namespace dsl {

explanation::explanation(const detail::explained_runs& all) : seconds_(0) {
  for (int i = 0; i < all.count(); ++i) append(all[i]);
}

explanation explanation::of_line(const dsl::text& line) {
  explanation made;
  made.text_ = line;
  return made;
}

void explanation::append(const explanation& next) {
  const std::string before = text_.c_str();
  if (before.empty()) {
    *this = next;
    return;
  }
  text_ = dsl::text((before + "\n" + next.text().c_str()).c_str());
  dot_ = dsl::text((std::string(dot_.c_str()) + next.dot().c_str()).c_str());
  seconds_ += next.seconds();
}

void explanation::compare_operations(int derivative, int formula) {
  char line[120];
  std::snprintf(line, sizeof line,
                "  derivative %d operations an element, %.1f times the formula's %d\n", derivative,
                formula > 0 ? derivative / static_cast<double>(formula) : 0.0, formula);
  text_ = dsl::text((std::string(text_.c_str()) + line).c_str());
}

}  // namespace dsl
