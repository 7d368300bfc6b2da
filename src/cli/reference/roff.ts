// Writes the few requests of man(7) that the man page uses.

/** Escapes a paragraph for roff. Text between backticks becomes bold. */
export function prose(text: string): string {
  return lines(text.replace(/\s+/g, ' ').trim()).replace(/`([^`]+)`/g, '\\fB$1\\fR')
}

/** Escapes text for roff, and keeps its spaces and backticks. */
export const literal = (text: string) => lines(text)

export const bold = (text: string) => `\\fB${literal(text)}\\fR`
export const italic = (text: string) => `\\fI${literal(text)}\\fR`

/**
 * Escapes text for roff: a hyphen stays a hyphen that readers can copy, a backslash is printed, no line starts like a
 * request, and the result is ASCII.
 */
function lines(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1')
    .replace(/\P{ASCII}/gu, sign => `\\[u${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`)
}

export const section = (title: string) => `.SH ${title.toUpperCase()}`
export const subsection = (title: string) => `.SS ${literal(title)}`
export const paragraph = (text: string) => `.PP\n${text}`

/** Returns a tagged paragraph: a term and its meaning. */
export const entry = (head: string, text: string) => `.TP\n${head}\n${text || '\\&'}`

/** Returns lines that are printed unchanged, indented. */
export const block = (text: readonly string[]) => ['.PP', '.RS 4', '.nf', ...text.map(literal), '.fi', '.RE'].join('\n')
