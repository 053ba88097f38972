"""A project that uses the Conan package: `conan create . --test-folder tests/install/conan`."""

import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy


class DslTest(ConanFile):
    settings = "os", "arch", "compiler", "build_type"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False  # nothing is to be written into the repository
        toolchain.generate()

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
