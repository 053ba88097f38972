// The left side of docs/from-thrust.md, as a program. Compiled by the host's compiler, with
// Thrust's algorithms on the CPU, it prints what the page says.
#include <docs/from-thrust/cuda/from-thrust.inc>
#include <docs/from-thrust/cuda/functors.inc>

int main() {
#include <docs/from-thrust/cuda/the-same-program.inc>
#include <docs/from-thrust/cuda/the-same-program-2.inc>
#include <docs/from-thrust/cuda/the-same-program-3.inc>
#include <docs/from-thrust/cuda/the-same-program-4.inc>
#include <docs/from-thrust/cuda/the-same-program-5.inc>
#include <docs/from-thrust/cuda/the-same-program-6.inc>
#include <docs/from-thrust/cuda/the-same-program-7.inc>
}
