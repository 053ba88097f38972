# dsl_python_module(name source...): adds a Python module called `name`. One of the sources has
# DSL_PYTHON_MODULE(name, m). The sources are compiled as usual, .cu files by nvcc; the code that
# uses the interpreter is compiled separately, by the C++ compiler. Needs CMake's Python
# (Interpreter and Development.Module) and nanobind, and searches for those that have not been found
# yet.
set(DSL_PYTHON_FOLDER "${CMAKE_CURRENT_LIST_DIR}/python")
if(NOT EXISTS "${DSL_PYTHON_FOLDER}")
  cmake_path(SET DSL_PYTHON_FOLDER NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../lib/python")
endif()

function(dsl_python_module name)
  if(NOT TARGET Python::Module)
    find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module OPTIONAL_COMPONENTS
      Development.SABIModule)
  endif()
  if(NOT COMMAND nanobind_add_module)
    execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
      OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE nanobind_ROOT)
    find_package(nanobind CONFIG REQUIRED)
  endif()

  add_library(${name}_formulas OBJECT ${ARGN})
  target_link_libraries(${name}_formulas PRIVATE dsl::dsl)
  set_target_properties(${name}_formulas PROPERTIES
    POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)

  file(GLOB sources "${DSL_PYTHON_FOLDER}/*.cpp")
  # NOMINSIZE: by default nanobind optimises for size.
  nanobind_add_module(${name} STABLE_ABI NB_STATIC NB_DOMAIN dsl_${name} NOMINSIZE
    NB_SUPPRESS_WARNINGS
    ${sources} $<TARGET_OBJECTS:${name}_formulas>)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON)
  target_compile_definitions(${name} PRIVATE DSL_PYTHON_NAME=${name})
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_link_libraries(${name} PRIVATE dsl::dsl)
  # A process may load several modules, each with its own copy of the library.
  target_link_options(${name} PRIVATE "$<$<PLATFORM_ID:Linux>:LINKER:--exclude-libs,ALL>")
endfunction()
