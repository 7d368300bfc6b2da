// The few words of man(7) that the man page is written in.

/** Text in which nothing means anything to roff; what stands between backticks is bold. */
export function prose(text: string): string {
  return lines(text.replace(/\s+/g, ' ').trim()).replace(/`([^`]+)`/g, '\\fB$1\\fR')
}

/** The same for words that are read as they stand. */
export const literal = (text: string) => lines(text)

export const bold = (text: string) => `\\fB${literal(text)}\\fR`
export const italic = (text: string) => `\\fI${literal(text)}\\fR`

/** A hyphen that can be copied, a backslash that is printed, no line that begins as a request does, and ASCII alone. */
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

/** A word, and what it means. */
export const entry = (head: string, text: string) => `.TP\n${head}\n${text || '\\&'}`

/** Lines as they stand, set in a little. */
export const block = (text: readonly string[]) => ['.PP', '.RS 4', '.nf', ...text.map(literal), '.fi', '.RE'].join('\n')
