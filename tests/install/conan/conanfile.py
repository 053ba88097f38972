"""A project that uses the Conan package: `conan create . --test-folder tests/install/conan`."""

import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, cmake_layout
from conan.tools.files import copy


class DslTest(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps", "CMakeToolchain"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def build(self):
        install = os.path.dirname(self.recipe_folder)
        copy(self, "main.cpp", install, self.build_folder)
        copy(self, "CMakeLists.txt", os.path.join(install, "find_package"), self.build_folder)
        cmake = CMake(self)
        cmake.configure(build_script_folder=self.build_folder)
        cmake.build()

    def test(self):
        if can_run(self):
            self.run(os.path.join(self.build_folder, "mine"), env="conanrun")
