/**
 * Returns what is wrong with a name or title, or null when it is valid. Mails, logs and terminals show it on one line.
 */
export function lineProblem(text: string, maximum = 255): string | null {
  if (text.trim() === '') return "can't be blank"
  if ([...text].length > maximum) return `is too long (maximum is ${maximum} characters)`
  return /\p{Cc}/u.test(text) ? 'is invalid' : null
}
