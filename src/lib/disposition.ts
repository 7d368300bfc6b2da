// The header Content-Disposition, which gives a download its name.

/**
 * Returns the header's value. `filename` is for clients that do not know `filename*`: it has `_` in place of what is not plain
 * ASCII.
 */
export function contentDisposition(kind: 'inline' | 'attachment', name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/gu, '_')
  // A lone half of a surrogate pair is no character, and encodeURIComponent throws.
  const whole = name.replace(/\p{Surrogate}/gu, '\ufffd')
  const encoded = encodeURIComponent(whole).replace(
    /['()*!]/g,
    mark => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`
  )
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encoded}`
}
