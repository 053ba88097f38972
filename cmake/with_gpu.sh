#!/bin/sh
# with_gpu.sh COMMAND...: runs the command if there is a GPU. Otherwise prints that it is skipped,
# and exits with 77, CTest's code for "skipped".
if nvidia-smi -L 2>/dev/null | grep -q '^GPU' || ls /dev/nvidia[0-9]* >/dev/null 2>&1; then
  exec "$@"
fi
echo "skipped: no GPU"
exit 77
