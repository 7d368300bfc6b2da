// The only HTML page. It has no script, and it shows the text of users and administrators only as escaped text.
import { isHexColor } from '../../lib/color.js'
import { escapeHtml } from '../../lib/html.js'

export interface SignInPage {
  /** The problem, in the words of this program. */
  readonly problem?: string
  /** A text for the page that an administrator has written. */
  readonly text: string | null
  readonly broadcasts: readonly { readonly message: string; readonly color: string; readonly font: string }[]
}

/** The Content-Security-Policy of the page. */
export const POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'"

/** Returns the HTML of the page. */
export const signInPage = ({ problem, text, broadcasts }: SignInPage): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Sign in to Gitstead</title>
<style>
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
  main { max-width: 20rem; margin: 15vh auto; padding: 0 1rem }
  label, input, button { display: block; width: 100%; box-sizing: border-box; font: inherit }
  input, button { margin: .25rem 0 1rem; padding: .5rem }
  .broadcast, .text { white-space: pre-line; overflow-wrap: anywhere }
  .broadcast { padding: .5rem 1rem; text-align: center }
</style>
${broadcasts.map(banner).join('')}<main>
  <h1>Gitstead</h1>
${text ? `  <p class="text">${escapeHtml(text)}</p>\n` : ''}${problem ? `  <p role="alert">${escapeHtml(problem)}</p>\n` : ''}  <form method="post" action="/users/sign_in">
    <label for="login">Username or email</label>
    <input id="login" name="login" autocomplete="username" required autofocus>
    <label for="password">Password</label>
    <input id="password" name="password" type="password" autocomplete="current-password" required>
    <button>Sign in</button>
  </form>
</main>
</html>
`

function banner({ message, color, font }: SignInPage['broadcasts'][number]): string {
  const rules = [
    ...(isHexColor(color) ? [`background-color: ${color}`] : []),
    ...(isHexColor(font) ? [`color: ${font}`] : [])
  ]
  const style = rules.length > 0 ? ` style="${rules.join('; ')}"` : ''
  return `<div class="broadcast" role="status"${style}>${escapeHtml(message)}</div>\n`
}
