const SIGNS: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const sign = (found: string): string => SIGNS[found] ?? ''

/** Escapes a text for HTML and for quoted attributes. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, sign)

/** Escapes a text for HTML outside of attributes. Quotes stay: code and the output of builds are full of them. */
export const escapeText = (text: string): string => text.replace(/[&<>]/g, sign)
