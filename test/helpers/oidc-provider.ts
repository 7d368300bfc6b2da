// A provider of OpenID Connect that others wrote, on a real listener, and a person who signs in there with forms.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
// @ts-expect-error: it has no types.
import Provider from 'oidc-provider'
import { formIn } from './browser.js'

type PersonClaims = { readonly [name: string]: unknown }

interface RealProvider {
  callback(): (request: unknown, response: unknown) => void
  readonly Client: {
    find(id: string): Promise<{ backchannelLogout(subject: string, session?: string): Promise<void> }>
  }
}

export interface TestProvider {
  readonly issuer: string
  /** Subject -> the claims of the person. Tests change it. */
  readonly people: Map<string, PersonClaims>
  /** The section of the configuration. */
  readonly settings: { readonly [name: string]: unknown }
  /** Signs a person in, from the address to which a browser was sent. Returns the address to which it comes back. */
  signIn(location: string, subject: string): Promise<string>
  /** Sends a logout token to the appliance. */
  logOut(subject: string, session?: string): Promise<void>
}

interface Test {
  teardown(fn: () => Promise<void>): void
}

const CLIENT = { client_id: 'gitstead', client_secret: 'secret-of-the-client' }

/** Starts a provider for an appliance at `base` that calls it `name`. */
export async function startProvider(t: Test, base: string, name: string): Promise<TestProvider> {
  const server = createServer()
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))
  t.teardown(async () => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const people = new Map<string, PersonClaims>()
  const provider = quietly(
    () =>
      new Provider(issuer, {
        clients: [
          {
            ...CLIENT,
            redirect_uris: [`${base}/users/auth/${name}/callback`],
            backchannel_logout_uri: `${base}/users/auth/${name}/backchannel_logout`,
            backchannel_logout_session_required: true
          }
        ],
        claims: {
          email: ['email', 'email_verified'],
          profile: ['name', 'preferred_username'],
          groups: ['groups', 'roles'],
          session: ['sid']
        },
        scopes: ['openid', 'email', 'profile', 'groups'],
        features: { backchannelLogout: { enabled: true }, devInteractions: { enabled: true } },
        // Its dispatcher refuses the addresses of this machine.
        fetch: (url: string, { dispatcher: _, ...options }: RequestInit & { dispatcher?: unknown }) =>
          fetch(url, options),
        findAccount: (_context: unknown, sub: string) =>
          people.has(sub) ? { accountId: sub, claims: async () => ({ sub, ...people.get(sub) }) } : undefined
      }) as RealProvider
  )
  server.on('request', provider.callback())
  return {
    issuer,
    people,
    settings: { issuer, ...CLIENT, scopes: ['openid', 'profile', 'email', 'groups'] },
    signIn: (location, subject) => signIn(base, location, subject),
    logOut: async (subject, session) =>
      (await provider.Client.find(CLIENT.client_id)).backchannelLogout(subject, session)
  }
}

/** It prints advice for operators. */
function quietly<T>(make: () => T): T {
  const { warn, info } = console
  console.warn = () => undefined
  console.info = () => undefined
  try {
    return make()
  } finally {
    Object.assign(console, { warn, info })
  }
}

/** Goes through the pages of the provider: enters the subject, agrees, and follows redirects until they lead back. */
async function signIn(base: string, location: string, subject: string): Promise<string> {
  const cookies = new Map<string, string>()
  let next: { url: string; options: RequestInit } = { url: location, options: {} }
  for (let step = 0; step < 20; step++) {
    const headers = { ...(next.options.headers as object), cookie: [...cookies].map(pair => pair.join('=')).join('; ') }
    const answer = await fetch(next.url, { ...next.options, headers, redirect: 'manual' })
    for (const line of answer.headers.getSetCookie()) {
      const [, key = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(key, value)
    }
    const to = answer.headers.get('location')
    const body = await answer.text()
    if (to?.startsWith(base)) return to
    if (to) {
      next = { url: new URL(to, next.url).href, options: {} }
      continue
    }
    const { action, fields } = formIn(body, 'prompt')
    const values = new URLSearchParams({ ...Object.fromEntries(fields), login: subject, password: 'x' })
    next = { url: new URL(action, next.url).href, options: { method: 'POST', body: values } }
  }
  throw new Error(`the provider does not lead back from ${next.url}`)
}
