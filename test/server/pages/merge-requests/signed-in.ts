// Browsers of people for the tests of these pages.
import { Browser } from '../../../helpers/browser.js'
import type { TestUser } from '../../../helpers/factory.js'

/** Returns a browser in which the user has signed in. */
export async function signedIn(base: string, user: TestUser): Promise<Browser> {
  const browser = new Browser(base)
  const { status } = await browser.signIn(user)
  if (status !== 303) throw new Error(`not signed in: ${status}`)
  return browser
}
