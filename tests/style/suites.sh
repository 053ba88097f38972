#!/bin/sh
# suites.sh: fails if two files of host_tests define a fixture of the same name. GoogleTest ends such
# a program before its first test, and a quick build has only one of the two files.
cd "$(dirname "$0")/.." || exit 1
twice=$(sed -nE 's/^(struct|class) (\w+) : .*\bon_(one_)?device\b.*/\2/p' \
  ir/*.cpp mem/*.cpp exec/*.cpp lang/*.cpp ode/*.cpp | sort | uniq -d)
[ -z "$twice" ] && exit
echo "fixtures of several files:" $twice
exit 1
