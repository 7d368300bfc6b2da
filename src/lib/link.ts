// Checks addresses that an administrator configures and that the server sends a browser to. They may contain only characters that
// a header can contain. Other characters must be written as percent escapes, and a host name in its ASCII form.

const PRINTABLE = /^[!-~]+$/

/** Returns true for a complete http or https URL without a user and a password. */
export function isWebUrl(text: string): boolean {
  // The URL parser drops line ends, and it accepts `http:x` and `http:\\x` as URLs with a host.
  if (!PRINTABLE.test(text) || text.includes('\\') || !/^https?:\/\//i.test(text) || !URL.canParse(text)) return false
  const { username, password } = new URL(text)
  return username === '' && password === ''
}

/** Returns true for a path on this host. `//HOST` and `/\HOST` are refused, because browsers treat them as another host. */
export const isLocalPath = (text: string): boolean =>
  PRINTABLE.test(text) && text.startsWith('/') && !text.startsWith('//') && !text.includes('\\')
