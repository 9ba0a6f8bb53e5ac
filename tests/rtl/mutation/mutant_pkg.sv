// Which mutant a run shows: the number in the file `mutant` of the folder that the test runs in.
package mutant_pkg;
  function automatic int read_active();
    int file;
    int number;
    file = $fopen("mutant", "r");
    if (file == 0) $fatal(1, "no file `mutant` in this folder");
    if ($fscanf(file, "%d", number) != 1) $fatal(1, "`mutant` holds no number");
    $fclose(file);
    read_active = number;
  endfunction

  int active = read_active();
endpackage
