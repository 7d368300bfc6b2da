// A provider whose certificate is from an authority that only its settings name.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { loadConfig } from '../../../../src/config.js'
import type { ProviderAway } from '../../../../src/oidc/failures.js'
import { probe } from '../../../../src/oidc/probe.js'
import { requireProvider } from '../../../../src/oidc/provider.js'
import { testApp } from '../../../helpers/app.js'
import { Browser, listen } from '../../../helpers/browser.js'
import { idClaims, json, startForgingProvider } from '../../../helpers/forging-provider.js'
import { selfSigned } from '../../../webhooks/receiver.js'

const app = await testApp(t)
const base = await listen(app.fastify)
const certificate = selfSigned(t.testdir({}))
const provider = await startForgingProvider(t, certificate)
const folder = t.testdir({ other: {} })
const [ca, other] = [join(folder, 'ca.pem'), join(folder, 'other.pem')]
writeFileSync(ca, certificate.cert)
writeFileSync(other, selfSigned(join(folder, 'other')).cert)

const configure = (changes: object) =>
  loadConfig({ port: 0, url: base, identity: { oidc: { secure: { ...provider.settings, ...changes } } } })
const probed = () => probe(requireProvider('secure'))
const reason = () =>
  probed().then(
    () => null,
    error => (error as ProviderAway).reason
  )

t.test('a sign-in reaches a provider whose authority is in ca', async t => {
  configure({ ca })
  const browser = new Browser(base)
  const { location } = await browser.get('/users/auth/secure')
  t.match(location ?? '', new RegExp(`^${provider.issuer}/authorize`))
  const asked = new URL(location ?? base).searchParams
  const claims = { preferred_username: 'ada', email: 'ada@company.example', email_verified: true }
  const token = provider.token(idClaims(provider.issuer, asked.get('nonce') ?? '', claims))
  provider.handlers.set('/token', json({ access_token: 'x', token_type: 'Bearer', id_token: token }))
  const query = new URLSearchParams({ code: 'x', state: asked.get('state') ?? '' })
  t.equal((await browser.get(`/users/auth/secure/callback?${query}`)).status, 303)
  t.equal((await browser.get('/profile')).status, 200)
  t.match(await probed(), { keys: 1, ahead: Number })
})

t.test('without the authority of the provider there is no sign-in, and the reason says what to do', async t => {
  const asked = provider.asked.length
  for (const changes of [{}, { ca: other }]) {
    configure(changes)
    t.match(await reason(), /^its certificate is not trusted \(\w+\): set ca to the file of its authority$/)
    t.equal((await new Browser(base).get('/users/auth/secure')).status, 503)
  }
  configure({ ca: join(folder, 'missing.pem') })
  t.match(await reason(), /^the file in ca, \/.*\/missing\.pem, cannot be read \(ENOENT\)$/)
  t.equal(provider.asked.length, asked, 'no request was sent')
})
