/** Returns true when a text is `#` with three or six hex digits, so that it can be used unchanged in a style. */
export const isHexColor = (text: string): boolean => /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(text)
