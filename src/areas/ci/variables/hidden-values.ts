// The values of variables that traces do not show. The built-in runner, and the server for external runners, mask the
// same values.

/** Characters. Shorter values are not masked, because they would mask common words. */
const LEAST = 8

/** Decided: the value of a variable is masked unless somebody chooses otherwise or it looks like an ordinary text. */
const masksByDefault = (value: string): boolean => value.length >= LEAST && !/\s/.test(value)

/** In the column `masked`: the value is from before the column existed, when every line of at least 8 characters was masked. */
export const MASKED_AS_BEFORE = 2

/** Returns whether traces hide a value. Nobody has chosen when `masked` is null. */
export function isMasked(masked: number | null, value: string): boolean {
  if (masked === MASKED_AS_BEFORE) return hiddenValues([{ value }]).length > 0
  return masked === null ? masksByDefault(value) : masked === 1
}

/** Returns the texts to mask. A value of several lines is masked line by line. */
export const hiddenValues = (variables: readonly { readonly value: string }[]): string[] =>
  variables.flatMap(({ value }) => value.split(/[\r\n]+/)).filter(line => line.length >= LEAST)
