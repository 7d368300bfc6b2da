/** Returns whether a text has more than `maximum` characters. An emoji counts as one, although JavaScript counts two. */
export const isLonger = (text: string, maximum: number): boolean => text.length > maximum && [...text].length > maximum

/** Returns what is wrong with a name or title, or null when it is valid. Mails, logs and terminals show it on one line. */
export function lineProblem(text: string, maximum = 255): string | null {
  if (text.trim() === '') return "can't be blank"
  if (isLonger(text, maximum)) return `is too long (maximum is ${maximum} characters)`
  return /\p{Cc}/u.test(text) ? 'is invalid' : null
}
