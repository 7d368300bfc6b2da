// A real Chromium, for what only a browser shows: the script, the layout, and what its policies refuse.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, launch, type Page, type Viewport } from 'puppeteer-core'
import { Browser as FormBrowser } from './browser.js'
import type { TestUser } from './factory.js'

/** Also names the program for scripts/test-files.mjs. */
const PROGRAM = '/usr/bin/chromium'

interface Test {
  teardown(fn: () => Promise<void>): void
}

export interface OpenOptions {
  /** Signed in as this user. */
  readonly user?: TestUser
  readonly width?: number
  readonly height?: number
  /** False switches the script off. */
  readonly script?: boolean
}

export interface OpenedPage {
  readonly page: Page
  /** What the browser complained about: errors of the script, refused by a policy, files that did not load. */
  readonly problems: string[]
  /** Closes the page with its cookies. */
  close(): Promise<void>
}

/** Starts Chromium, which ends with the test. Start one for each file. */
export async function chromium(t: Test): Promise<Browser> {
  const browser = await startChromium()
  t.teardown(() => browser.close())
  return browser
}

const startChromium = (): Promise<Browser> =>
  launch({
    executablePath: PROGRAM,
    pipe: true,
    // Root has no sandbox, and a container has little shared memory.
    args: ['--disable-dev-shm-usage', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])]
  })

/** Opens an empty page with cookies of its own. `base` is the address of the application. */
export async function openPage(browser: Browser, base: string, options: OpenOptions = {}): Promise<OpenedPage> {
  const { user, width = 1280, height = 900, script = true } = options
  const context = await browser.createBrowserContext()
  if (user) await context.setCookie(...(await cookiesOf(base, user)))
  const page = await context.newPage()
  const problems: string[] = []
  page.on('console', message => {
    if (['error', 'warn'].includes(message.type())) problems.push(message.text())
  })
  page.on('pageerror', error => problems.push(String(error)))
  page.on('requestfailed', request => problems.push(`${request.url()}: ${request.failure()?.errorText}`))
  page.on('dialog', async dialog => {
    problems.push(`a script ran: ${dialog.message()}`)
    await dialog.dismiss()
  })
  const viewport: Viewport = { width, height, isMobile: width < 500, hasTouch: width < 500 }
  await page.setViewport(viewport)
  await useScheme(page, 'light')
  if (!script) await page.setJavaScriptEnabled(false)
  return { page, problems, close: () => context.close() }
}

export const useScheme = (page: Page, value: 'light' | 'dark'): Promise<void> =>
  page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }])

async function cookiesOf(base: string, user: TestUser) {
  const signedIn = new FormBrowser(base)
  await signedIn.signIn(user)
  const { hostname: domain } = new URL(base)
  return [...signedIn.cookies].map(([name, value]) => ({ name, value, domain, path: '/', httpOnly: true }))
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface AxeResults {
  readonly violations: readonly {
    readonly id: string
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
  }[]
}

/** The rules of axe-core that depend on the colours of a page. */
export const COLOR_RULES = ['color-contrast', 'link-in-text-block']

/** Returns what axe-core finds wrong with a page, one line for each element; with `rules` by these rules only. */
export async function axeFindings(page: Page, rules?: readonly string[]): Promise<string[]> {
  // Unlike a script in the page, this is not subject to its policy.
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axeSource)
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) }
  const { violations } = (await page.evaluate(`axe.run(${JSON.stringify(options)})`)) as AxeResults
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${id}: ${html.slice(0, 200)} ${failureSummary.replace(/\s+/g, ' ')}`)
  )
}

/** Returns how far the page is wider than the window, in pixels. */
export const excessWidth = (page: Page): Promise<number> =>
  page.evaluate('document.documentElement.scrollWidth - innerWidth') as Promise<number>
