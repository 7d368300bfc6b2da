// The values of variables that traces do not show. The built-in runner, and the server for external runners, mask the
// same values.

/** Characters. Shorter values are not masked, because they would mask common words. */
const LEAST = 8

/** Decided: the value of a variable is masked unless somebody chooses otherwise or it looks like an ordinary text. */
export const masksByDefault = (value: string): boolean => value.length >= LEAST && !/\s/.test(value)

/** Returns the texts to mask. A value of several lines is masked line by line. */
export const hiddenValues = (variables: readonly { readonly value: string }[]): string[] =>
  variables.flatMap(({ value }) => value.split(/[\r\n]+/)).filter(line => line.length >= LEAST)
