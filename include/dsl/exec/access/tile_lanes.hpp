// Where a thread's lanes are in a tile of a strided index space.
#pragma once

#include <dsl/exec/access/lanes.hpp>
#include <dsl/exec/access/tile.hpp>

namespace dsl::detail {

/// Places a thread's groups of `Lanes` elements in the entered tile. The elements of two lanes are
/// `Step` elements apart. `Place` is an operand_access.
///
/// Rows may begin anywhere (`tile_leads`). Groups are then moved by the row's lead, so that they
/// are whole aligned vectors in all operands that are accessed in vectors; at the ends of a row
/// they are cut, and accessed element by element. All rows of a thread have one lead. Without leads
/// nothing is moved.
template <class Place, int Lanes, int Step, bool Beyond>
struct tile_lanes : Place {
  using Place::args, Place::width;
  static constexpr int lane_step = Step;
  static constexpr bool has_leads = Place::has_leads && Lanes > 1;
  // Groups may be read beyond a row's ends.
  static constexpr bool reads_beyond = has_leads && Beyond;

  template <class Arguments, class Memory>
  DSL_DETAIL_KERNEL_FN tile_lanes(const Arguments& a, Memory m) : Place(a, m) {}
  DSL_DETAIL_KERNEL_FN explicit tile_lanes(const Place& entered) : Place(entered) {}

  DSL_DETAIL_KERNEL_FN int row_of(int thread) const { return thread >> args.tiles_of.log2_columns; }
  /// The column at which a thread's first group begins, without its lead.
  DSL_DETAIL_KERNEL_FN int column_of(int thread) const {
    const int column = thread & ((1 << args.tiles_of.log2_columns) - 1),
              in_step = column & (Step - 1);
    return (column - in_step) * Lanes + in_step;
  }
  /// The number of columns by which it begins later, or if it is negative earlier, with its lead.
  DSL_DETAIL_KERNEL_FN int column_shift(int thread) const {
    if constexpr (!has_leads) return 0;
    else return moved_by(row_of(thread)) * args.tiles_of.leads.direction;
  }

  /// Places a group that begins at a column, and cuts it at the ends of its row.
  DSL_DETAIL_KERNEL_FN void place_in_tile(lane_place& g, int column, int row) const {
    g.column = column;
    g.row = row;
    cut_at_ends(g);
  }
  /// Counts the existing lanes of a group that has been placed. One that begins before its row is
  /// moved to the row's first element.
  DSL_DETAIL_KERNEL_FN void cut_at_ends(lane_place& g) const {
    const int left = (width - g.column + Step - 1) / Step, readable = left + beyond(g.row);
    g.count = readable < Lanes ? readable : Lanes;
    if constexpr (has_leads) {
      if (Place::reduces && args.tiles_of.leads.direction > 0 && left <= 0) {
        g.count = left > -Lanes ? moved_by(g.row) : 0;
        g.column = this->row_begin;
      } else {  // A branch would take more registers.
        const int missing = g.column < this->row_begin ? this->row_begin - g.column : 0;
        g.count -= missing;
        g.column += missing;
      }
    }
  }
  /// Whether the groups from one column to another are whole, in rows up to `last_row`.
  DSL_DETAIL_KERNEL_FN bool are_whole(int column, int last_column, int last_row) const {
    const bool ends = last_column + Lanes <= width + beyond(last_row);
    if constexpr (!has_leads) return ends;
    else return ends && column >= this->row_begin;
  }
  /// The end of the columns at which groups of the tile may begin. A lead is shorter than a vector,
  /// so that it moves none of them beyond the tile's width.
  DSL_DETAIL_KERNEL_FN int end_of_columns() const {
    if constexpr (!has_leads) return width;
    else {
      const int of_tile = args.tiles_of.width, of_row = width + args.tiles_of.leads.lanes;
      return of_tile < of_row ? of_tile : of_row;
    }
  }

  /// Of kept columns, whether a thread's lanes are behind the columns whose results it gives, and
  /// by how many.
  DSL_DETAIL_KERNEL_FN bool are_columns_moved() const {
    if constexpr (!reads_beyond) return false;
    else return args.tiles_of.leads.beyond != 0;
  }
  DSL_DETAIL_KERNEL_FN int moved_lanes(int thread) const {
    if constexpr (!has_leads) return 0;
    else return moved_by(row_of(thread));
  }

 private:
  // The elements beyond the end of a row that may be read, if another row of the tile follows.
  DSL_DETAIL_KERNEL_FN int beyond([[maybe_unused]] int row) const {
    if constexpr (reads_beyond) return row + 1 < this->height ? args.tiles_of.leads.beyond : 0;
    else return 0;
  }
  DSL_DETAIL_KERNEL_FN int moved_by(int row) const {
    const auto all = this->first_move + static_cast<std::uint32_t>(row) * args.tiles_of.leads.step;
    return static_cast<int>(all) & (Lanes - 1);
  }
};

}  // namespace dsl::detail
