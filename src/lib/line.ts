/** What is wrong with a name or title, which stands on one line in mails, logs and terminals; null where nothing is. */
export function lineProblem(text: string, maximum = 255): string | null {
  if (text.trim() === '') return "can't be blank"
  if ([...text].length > maximum) return `is too long (maximum is ${maximum} characters)`
  return /\p{Cc}/u.test(text) ? 'is invalid' : null
}
