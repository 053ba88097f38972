// Names and numbers of meshes, for a kind of devices with eight members that does nothing.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "../error_of.hpp"
#include "mem/mesh.hpp"

namespace {

using dsl::detail::parse_members;
using dsl::detail::spell_members;

std::vector<int> listed(std::string_view list) {
  return parse_members(list, 8).value_or(std::vector<int>{});
}

TEST(mesh, members_are_listed) {
  EXPECT_EQ(listed("0-3"), (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(listed("0,2"), (std::vector{0, 2}));
  EXPECT_EQ(listed("5-6,1,3-3"), (std::vector{5, 6, 1, 3}));
  EXPECT_EQ(listed("all"), (std::vector{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(listed("255"), (std::vector{255}));
  EXPECT_EQ(parse_members("all", 0), (std::vector{0}));
}

TEST(mesh, what_is_no_list) {
  for (const char* list : {"", ",", "0,", ",0", "0-", "-1", "3-1", "0--1", "0-1-2", " 0", "0 ",
                           "0,,1", "a", "all,1", "256", "0-256", "1000", "+1"})
    EXPECT_FALSE(parse_members(list, 8).has_value()) << list;
}

TEST(mesh, the_shortest_list) {
  EXPECT_EQ(spell_members(std::vector{0, 1, 2, 3}), "0-3");
  EXPECT_EQ(spell_members(std::vector{0, 1}), "0-1");
  EXPECT_EQ(spell_members(std::vector{0, 2}), "0,2");
  EXPECT_EQ(spell_members(std::vector{0, 1, 4, 7, 6}), "0-1,4,7,6");
}

TEST(mesh, names_of_devices) {
  for (const char* name : {"host:0-1", "host:0", "sim:0-", "cuda:0-1,", "cuda:0-1000"})
    EXPECT_EQ(error_of([&] { dsl::device{name}; }).substr(0, 19), "there is no device ") << name;
  EXPECT_EQ(error_of([] { dsl::device{"cuda:0-2,1"}; }),
            "the mesh \"cuda:0-2,1\" has device 1 twice");
}

TEST(mesh, a_number_that_no_name_has_given_out_is_no_device) {
  EXPECT_THROW(dsl::properties({dsl::backend::cuda, 256 + 17}), dsl::device_error);
  EXPECT_THROW(dsl::properties({dsl::backend::host, 100000}), dsl::device_error);
}

}  // namespace
