// Which values of variables traces do not show: the built-in runner and the server, for outside runners, hide the same ones.

/** Characters. Shorter values are not hidden: they would hide common words. */
const LEAST = 8

/** Returns the texts to hide. A value of several lines is hidden line by line. */
export const hiddenValues = (variables: readonly { readonly value: string }[]): string[] =>
  variables.flatMap(({ value }) => value.split(/[\r\n]+/)).filter(line => line.length >= LEAST)
