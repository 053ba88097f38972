"""The library as a Conan 2 package: `conan create . --build missing`."""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir

required_conan_version = ">=2.4"


class DslConan(ConanFile):
    name = "dsl"
    description = "Elementwise formulas in C++ as fused CUDA kernels and SIMD loops"
    license = "MIT"
    topics = ("cuda", "simd", "expression-templates", "arrays")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    # cuda: "auto" is with CUDA if a toolkit is found. dependencies: "system" takes what is installed (Debian's packages) in place of Conan's.
    options = {"shared": [True, False], "fPIC": [True, False], "cuda": ["auto", True, False], "dependencies": ["conan", "system"]}
    default_options = {"shared": False, "fPIC": True, "cuda": "auto", "dependencies": "conan"}
    implements = ["auto_shared_fpic"]
    exports_sources = "CMakeLists.txt", "LICENSE", "CHANGELOG.md", "cmake/*", "include/*", "lib/*"

    def set_version(self):
        header = load(self, os.path.join(self.recipe_folder, "include", "dsl", "version.hpp"))
        self.version = ".".join(re.findall(r"#define DSL_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        if self.options.dependencies == "system":
            return
        self.requires("boost/[>=1.74 <2]", transitive_headers=True)
        self.requires("onetbb/[>=2021.8 <2023]")
        if self.settings.arch == "x86_64":
            self.requires("sleef/[>=3.7 <4]", transitive_libs=True)

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("dsl is for Linux")

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False
        toolchain.cache_variables["DSL_BUILD_TESTS"] = False
        toolchain.cache_variables["DSL_BUILD_EXAMPLES"] = False
        toolchain.cache_variables["CMAKE_DISABLE_FIND_PACKAGE_LibZip"] = True  # .npz files are an error then
        toolchain.cache_variables["DSL_BUILD_BENCHMARKS"] = False
        toolchain.cache_variables["DSL_CUDA"] = {"True": "ON", "False": "OFF"}.get(str(self.options.cuda), "AUTO")
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build(target="dsl")

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        # find_package(dsl) finds the package's own configuration, which brings the options that nvcc needs.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "dsl")]
        self.cpp_info.libs = ["dsl"]
        if self.options.dependencies == "system":
            self.cpp_info.system_libs = ["tbb", "boost_context", "sleefgnuabi"]
