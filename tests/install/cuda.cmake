cmake_minimum_required(VERSION 3.25)
set(CMAKE_CUDA_ARCHITECTURES 90)  # your GPUs' compute capabilities, 80 or more; before project()
project(mine LANGUAGES CXX CUDA)
