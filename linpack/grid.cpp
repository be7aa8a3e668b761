#include "linpack/grid.hpp"

namespace kumiki::linpack {

Place::Place(Job& job, const Grid& grid)
    : job_(job),
      grid_(grid),
      row_(grid.row_of(job.rank())),
      column_(grid.column_of(job.rank())),
      along_row_(job.split(takes_part() ? row_ : -1, column_)),
      along_column_(job.split(takes_part() ? column_ : -1, row_)) {}

} // namespace kumiki::linpack
