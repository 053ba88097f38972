# Extracts the examples of the pages in docs/. A page is the only source of its examples; the tests
# include them.
cmake_minimum_required(VERSION 3.25)  # Needed if this runs as a script.

# doc_anchor(variable heading): sets the variable to the anchor of a heading. Letters become lower
# case, spaces become -, and all but letters, digits, - and _ is removed.
function(doc_anchor variable heading)
  string(TOLOWER "${heading}" anchor)
  string(REGEX REPLACE "[^a-z0-9 _-]" "" anchor "${anchor}")
  string(REPLACE " " "-" anchor "${anchor}")
  set(${variable} "${anchor}" PARENT_SCOPE)
endfunction()

# doc_examples(page folder variable): writes each ```cpp block of the page to folder/ANCHOR.inc,
# with the anchor of the heading above it; the second one under a heading to folder/ANCHOR-2.inc.
# Blocks marked ```cuda, which show kernels and programs without dsl, go to folder/cuda/ANCHOR.inc.
# Sets the variable to the files' names. Does not touch files that would not change.
function(doc_examples page folder variable)
  file(READ "${page}" rest)
  string(CONCAT rest "\n" "${rest}")
  set(names)
  set(line 0)  # Line number of the rest of the page.
  set(heading "")
  set(fence "\n```")
  while(TRUE)
    string(FIND "${rest}" "${fence}" begin)
    if(begin EQUAL -1)
      break()
    endif()
    string(SUBSTRING "${rest}" 0 ${begin} text)
    string(FIND "${text}" "\n#" at REVERSE)
    if(NOT at EQUAL -1)
      string(SUBSTRING "${text}" ${at} -1 heading)
      string(REGEX REPLACE "^\n#+ +([^\n]*).*" "\\1" heading "${heading}")
    endif()
    math(EXPR begin "${begin} + 4")
    string(SUBSTRING "${rest}" ${begin} -1 rest)
    string(FIND "${rest}" "\n" at)
    string(SUBSTRING "${rest}" 0 ${at} language)
    string(SUBSTRING "${rest}" ${at} -1 rest)
    string(FIND "${rest}" "${fence}" end)
    if(end EQUAL -1)
      message(FATAL_ERROR "${page}: a code block after the heading \"${heading}\" does not end")
    endif()
    string(SUBSTRING "${rest}" 1 ${end} block)
    math(EXPR after "${end} + 4")
    string(SUBSTRING "${rest}" ${after} -1 rest)

    string(REGEX REPLACE "[^\n]" "" newlines "${text}")
    string(LENGTH "${newlines}" lines)
    math(EXPR line "${line} + ${lines} + 2")  # Line number of the block's first line.
    if(language MATCHES "^(cpp|cuda)$")
      doc_anchor(anchor "${heading}")
      if(language STREQUAL "cuda")
        string(PREPEND anchor "cuda/")
      endif()
      set(name "${anchor}")
      set(number 1)
      while(name IN_LIST names)
        math(EXPR number "${number} + 1")
        set(name "${anchor}-${number}")
      endwhile()
      list(APPEND names "${name}")
      file(CONFIGURE OUTPUT "${folder}/${name}.inc" CONTENT "#line ${line} \"${page}\"\n@block@"
        @ONLY)
    endif()
    string(REGEX REPLACE "[^\n]" "" newlines "${block}")
    string(LENGTH "${newlines}" lines)
    math(EXPR line "${line} + ${lines}")
  endwhile()
  set(${variable} "${names}" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  # As a test: cmake -DSOURCE=... -DWORK=... -P doc_examples.cmake. Checks that a test includes
  # every example of every page, or that a program of examples/, which a test runs, contains it
  # literally except for its indentation.
  file(GLOB pages "${SOURCE}/docs/*.md")
  file(GLOB_RECURSE tests "${SOURCE}/tests/*_test.cpp" "${SOURCE}/tests/*_test.cu"
    "${SOURCE}/tests/docs/*.cpp" "${SOURCE}/tests/python/*.cpp" "${SOURCE}/tests/*.sh"
    "${SOURCE}/examples/*.cpp" "${SOURCE}/examples/*.cu")
  set(sources "")
  foreach(test ${tests})
    file(READ "${test}" source)
    string(APPEND sources "${source}")
  endforeach()
  file(GLOB programs "${SOURCE}/examples/*.cpp" "${SOURCE}/examples/python/*.cpp")
  set(program_sources "")
  foreach(program ${programs})
    file(READ "${program}" source)
    string(APPEND program_sources "${source}")
  endforeach()
  string(REGEX REPLACE "\n +" "\n" program_sources "${program_sources}")
  set(all 0)
  foreach(page ${pages})
    cmake_path(GET page STEM stem)
    doc_examples("${page}" "${WORK}/docs/${stem}" names)
    foreach(name ${names})
      string(FIND "${sources}" "docs/${stem}/${name}.inc" at)
      if(at EQUAL -1)
        file(READ "${WORK}/docs/${stem}/${name}.inc" block)
        string(REGEX REPLACE "^#line[^\n]*\n" "" block "${block}")
        string(REGEX REPLACE "\n +" "\n" block "\n${block}")
        string(FIND "${program_sources}" "${block}" at)
      endif()
      if(at EQUAL -1)
        message(SEND_ERROR
          "docs/${stem}.md has an example that no test compiles: a test should \
#include <docs/${stem}/${name}.inc>, or a program of examples/ have it word for \
word")
      endif()
      math(EXPR all "${all} + 1")
    endforeach()
    file(READ "${page}" text)
    string(REGEX MATCHALL "```(cpp|cuda)" fences "${text}")
    list(LENGTH fences fences)
    list(LENGTH names found)
    if(NOT fences EQUAL found)
      message(SEND_ERROR
        "docs/${stem}.md: a ```cpp or ```cuda block should begin and end \
at the beginning of a line, with nothing behind the language")
    endif()
  endforeach()
  message(STATUS "${all} examples")
endif()
