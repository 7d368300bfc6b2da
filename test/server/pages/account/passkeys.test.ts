// Passkeys in a real Chromium, with a virtual authenticator.
import type { CDPSession, Page } from 'puppeteer-core'
import t from 'tap'
import { config, loadConfig } from '../../../../src/config.js'
import { testApp } from '../../../helpers/app.js'
import { listen } from '../../../helpers/browser.js'
import { axeFindings, chromium, openPage } from '../../../helpers/chromium.js'

const PATH = '/profile/two_factor'

/** Gives a page an authenticator that answers at once. `verifies`: it asks for a PIN, and keeps passkeys. */
async function plugIn(page: Page, verifies: boolean): Promise<{ client: CDPSession; authenticatorId: string }> {
  const client = await page.createCDPSession()
  await client.send('WebAuthn.enable')
  const { authenticatorId } = await client.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: verifies ? 'internal' : 'usb',
      hasResidentKey: verifies,
      hasUserVerification: verifies,
      isUserVerified: verifies,
      automaticPresenceSimulation: true
    }
  })
  return { client, authenticatorId }
}

t.test('passkeys in a browser', async t => {
  const app = await testApp(t)
  const { port } = new URL(await listen(app.fastify))
  // Browsers use no passkeys at the number of a machine.
  const base = `http://localhost:${port}`
  loadConfig({ home: config().home, url: base })
  const browser = await chromium(t)
  const press = (page: Page, button: string) => Promise.all([page.waitForNavigation(), page.click(button)])
  const signOut = async (page: Page) => {
    await page.click('.account summary')
    await press(page, '[action="/users/sign_out"] button')
  }
  const enterPassword = async (page: Page, { username, password }: { username: string; password: string }) => {
    await page.goto(`${base}/users/sign_in`)
    await page.type('[name=login]', username)
    await page.type('[name=password]', password)
    await press(page, 'form[action="/users/sign_in"] button')
  }
  const add = async (page: Page, name: string) => {
    await page.goto(base + PATH)
    await page.type('#passkey-name', name)
    await press(page, '[action$="/passkeys"] button.main')
  }
  const isSignedIn = async (page: Page, { username }: { username: string }) =>
    (await page.$eval('.account summary', element => element.textContent)).includes(username)

  t.test('a phone is added, signs in without a password, and is the second factor', async t => {
    const user = await app.make.user()
    const { page, problems, close } = await openPage(browser, base)
    const { client, authenticatorId } = await plugIn(page, true)
    await enterPassword(page, user)
    await add(page, 'My phone')
    t.equal((await page.$$('.codes code')).length, 10, 'the recovery codes are shown')
    t.same(await axeFindings(page), [])
    const { credentials } = await client.send('WebAuthn.getCredentials', { authenticatorId })
    t.match(credentials, [{ rpId: 'localhost', isResidentCredential: true }])
    await page.goto(base + PATH)
    t.match(await page.$eval('main', element => element.textContent), 'My phone')
    t.same(await axeFindings(page), [])
    await signOut(page)

    await page.goto(`${base}/users/sign_in?return_to=/profile/keys`)
    t.same(await axeFindings(page), [])
    await press(page, '[action="/users/sign_in/passkey"] button')
    t.equal(page.url(), `${base}/profile/keys`)
    t.ok(await isSignedIn(page, user))
    await signOut(page)

    await enterPassword(page, user)
    t.equal(page.url(), `${base}/users/sign_in/two_factor`)
    t.same(await axeFindings(page), [])
    await press(page, '[data-passkey] button')
    t.ok(await isSignedIn(page, user))
    await signOut(page)

    // The owner takes the finger away.
    await client.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
    await page.goto(`${base}/users/sign_in`)
    await page.click('[action="/users/sign_in/passkey"] button')
    await page.waitForSelector('[data-passkey] [role=alert]')
    t.equal(page.url(), `${base}/users/sign_in`)
    t.same(problems, [])
    await close()
  })

  t.test('a security key without a PIN is only a second factor', async t => {
    const user = await app.make.user()
    const { page, problems, close } = await openPage(browser, base)
    await plugIn(page, false)
    await enterPassword(page, user)
    await add(page, 'Key')
    await signOut(page)
    await enterPassword(page, user)
    await press(page, '[data-passkey] button')
    t.ok(await isSignedIn(page, user))
    await page.goto(base + PATH)
    await page.type('#passkey-name', 'The same key')
    await page.click('[action$="/passkeys"] button.main')
    await page.waitForSelector('[data-passkey] [role=alert]')
    t.same(problems, [])
    await close()
  })

  t.test('without the script there is no button, and a code works', async t => {
    const { page, close } = await openPage(browser, base, { script: false })
    await page.goto(`${base}/users/sign_in`)
    t.equal(await page.$eval('[data-passkey]', form => form.checkVisibility()), false)
    await close()
  })
})
