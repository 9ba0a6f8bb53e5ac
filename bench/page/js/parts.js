// What stands under the table of a cut.
function cut_parts(cut, index) {
  return [categories_part(cut, index), roofline_part(cut, index), over_time_part(cut),
    map_part(cut), program_part(cut, index)];
}
