// Addresses that an administrator names and a browser is sent to. Only what a header can hold: other characters are
// written as their percent escapes, or a host's as its ASCII form.

const PRINTABLE = /^[!-~]+$/

/** An http or https URL, written out, without a user or a password. */
export function isWebUrl(text: string): boolean {
  // The parser of URLs drops line ends, and reads `http:x` and `http:\\x` as a host as well.
  if (!PRINTABLE.test(text) || text.includes('\\') || !/^https?:\/\//i.test(text) || !URL.canParse(text)) return false
  const { username, password } = new URL(text)
  return username === '' && password === ''
}

/** A path of this very host: neither `//HOST` nor `/\HOST`, which browsers take for another one. */
export const isLocalPath = (text: string): boolean =>
  PRINTABLE.test(text) && text.startsWith('/') && !text.startsWith('//') && !text.includes('\\')
