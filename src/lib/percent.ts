/** Decodes the percent signs of a part of a URL; returns the text itself where they encode nothing. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
