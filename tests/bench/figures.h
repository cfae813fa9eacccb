/* Figures for the tables of docs/: each is a line of table, row, column and value, with tabs
 * between, at the end of the file that TALLY_FIGURES names; without that variable, nothing is
 * written. tests/bench/tables makes tables of them. In C and in C++. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

static inline void note_figure(const char* table, const char* row, const char* column,
                               double value) {
  const char* const path = getenv("TALLY_FIGURES");
  FILE* const file = path ? fopen(path, "a") : NULL;
  if (!file) return;
  fprintf(file, "%s\t%s\t%s\t%.6g\n", table, row, column, value);
  fclose(file);
}
