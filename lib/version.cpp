#include <dsl/version.hpp>

#define DSL_SPELLED(number) #number
#define DSL_SPELL(number) DSL_SPELLED(number)

namespace dsl {

const char* version() {
  return DSL_SPELL(DSL_VERSION_MAJOR) "." DSL_SPELL(DSL_VERSION_MINOR) "." DSL_SPELL(
      DSL_VERSION_PATCH);
}

}  // namespace dsl
