import { loadConfig } from '../../src/config.js'
import { row } from '../../src/db/connect/sql.js'
import { buildApp } from '../../src/server/app.js'
import { testApp } from '../helpers/app.js'
import { factory } from '../helpers/factory.js'
import t from '../helpers/tap.js'

await testApp(t)
t.afterEach(() => {
  loadConfig({ port: 0 })
})

/** The address that the audit records for a change, when the server trusts these proxies. */
async function addressOf(trusted: readonly string[] | undefined, remoteAddress: string, forwarded: string) {
  loadConfig({ port: 0, ...(trusted && { trusted_proxies: trusted }) })
  const fastify = await buildApp()
  const user = await factory.user()
  const res = await fastify.inject({
    method: 'POST',
    url: '/api/v3/personal_access_tokens',
    headers: { 'private-token': user.privateToken, 'x-forwarded-for': forwarded },
    payload: { name: 'one' },
    remoteAddress
  })
  await fastify.close()
  if (res.statusCode !== 201) throw new Error(res.body)
  return (await row<{ address: string }>('select address from audit_events order by id desc limit 1'))?.address
}

const CASES = [
  { name: 'a proxy on this machine', from: '127.0.0.1', forwarded: '192.0.2.7', is: '192.0.2.7' },
  { name: 'a proxy on this machine, by IPv6', from: '::1', forwarded: '2001:db8::7', is: '2001:db8::7' },
  { name: 'a mapped address', from: '::ffff:127.0.0.1', forwarded: '::ffff:192.0.2.7', is: '192.0.2.7' },
  { name: 'another machine of a private network', from: '10.0.0.5', forwarded: '192.0.2.7', is: '10.0.0.5' },
  {
    name: 'an address that the client invented',
    from: '127.0.0.1',
    forwarded: '192.0.2.1, 192.0.2.7',
    is: '192.0.2.7'
  },
  { name: 'no address at all', from: '127.0.0.1', forwarded: `é'${'x'.repeat(200)}`, is: '127.0.0.1' },
  { name: 'a range', trusted: ['10.0.0.0/8'], from: '10.9.8.7', forwarded: '192.0.2.7', is: '192.0.2.7' },
  {
    name: 'two proxies',
    trusted: ['10.0.0.5', 'fd00::/8'],
    from: 'fd00::1',
    forwarded: '192.0.2.1, 192.0.2.7, 10.0.0.5',
    is: '192.0.2.7'
  },
  {
    name: 'loopback that is not listed',
    trusted: ['10.0.0.5'],
    from: '127.0.0.1',
    forwarded: '192.0.2.7',
    is: '127.0.0.1'
  },
  { name: 'no proxies', trusted: [], from: '127.0.0.1', forwarded: '192.0.2.7', is: '127.0.0.1' }
]

t.test('X-Forwarded-For counts only from trusted proxies', async t => {
  for (const { name, trusted, from, forwarded, is } of CASES)
    t.equal(await addressOf(trusted, from, forwarded), is, name)
})

t.test('a text that is not a range is refused at the start', async t => {
  loadConfig({ port: 0, trusted_proxies: ['loopback'] })
  await t.rejects(buildApp(), {
    name: 'Misconfigured',
    message: /^configuration: trusted_proxies: "loopback" is not an address or a range/
  })
})
