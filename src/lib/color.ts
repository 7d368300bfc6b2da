/** Whether a text is `#` with three or six hex digits, and so can stand in a style as it is. */
export const isHexColor = (text: string): boolean => /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(text)
