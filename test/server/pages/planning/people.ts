// Browsers of people for the tests of pages.
import { type Answer, Browser, formIn } from '../../../helpers/browser.js'
import type { TestUser } from '../../../helpers/factory.js'

/** Returns a browser in which the user has signed in. */
export async function browserOf(base: string, user: TestUser): Promise<Browser> {
  const browser = new Browser(base)
  const { status } = await browser.signIn(user)
  if (status !== 303) throw new Error(`not signed in: ${status}`)
  return browser
}

/** Returns the token that the forms of a page have. */
export const tokenOf = (page: Answer): Record<string, string> =>
  Object.fromEntries(formIn(page.body, 'sign_out').fields)
