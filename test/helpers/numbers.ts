// A table of numbers, for statements that make many rows at once. MariaDB has such tables built in; MySQL, on which the tests
// also run, has none.

/** The numbers from `first` to `last` in this order, as the column `seq` of a table for `from`. */
export function numbersTo(last: number, first = 1): string {
  const all = Array.from({ length: last - first + 1 }, (_, at) => first + at)
  return `json_table('[${all}]', '$[*]' columns (seq int path '$')) numbers`
}
