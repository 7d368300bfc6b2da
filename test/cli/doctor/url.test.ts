// Tests the check `url` of `gitstead doctor` against real servers, with and without TLS.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import t, { type Test } from 'tap'
import { urlCheck } from '../../../src/cli/doctor/url.js'
import { loadConfig } from '../../../src/config.js'
import { prepareHome } from '../../../src/home.js'

const home = mkdtempSync(join(tmpdir(), 'gitstead-url-'))
t.teardown(() => rmSync(home, { recursive: true }))

function configure(url: string | null): void {
  if (url === null) delete process.env.GITSTEAD_URL
  else process.env.GITSTEAD_URL = url
  loadConfig({ home, port: 0 })
}
t.beforeEach(() => configure(null))
configure(null)
prepareHome()

const instance = 'this-one'
type Make = (answer: RequestListener) => Server

/** Starts a server that answers like the one of the home, and notes it as the home's server. Returns its URL. */
async function answering(t: Test, make: Make): Promise<string> {
  const server = make((_, response) => response.setHeader('x-gitstead-instance', instance).end('{}'))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const note = join(home, 'run/server.json')
  writeFileSync(note, JSON.stringify({ host: '127.0.0.1', port, pid: process.pid, instance }))
  t.teardown(() => {
    server.close()
    rmSync(note, { force: true })
  })
  return `http://127.0.0.1:${port}`
}

const examineUrl = async (serverUrl: string, now = new Date()) =>
  urlCheck.examine({ all: false, serverUp: true, serverUrl, now })

t.test('doctor requests the URL that users see', async t => {
  await t.test('the server answers at the address that it noted', async t => {
    const own = await answering(t, createServer)
    t.match(await examineUrl(own), { found: `the server answers at ${own}`, next: /^set url/ })
  })

  await t.test('another appliance answers', async t => {
    const own = await answering(t, createServer)
    writeFileSync(join(home, 'run/server.json'), '{"instance":"that-one"}')
    await t.rejects(examineUrl(own), { message: `another appliance answers at ${own}` })
  })

  await t.test('a server at every address needs url, also when only a flag of `up` says so', async t => {
    await t.rejects(examineUrl('http://0.0.0.0:8080'), {
      message: 'users see the URL http://0.0.0.0:8080, which they cannot reach',
      remedy: /^set url in config.yaml to the address that users type/
    })
  })

  await t.test('nothing answers, a program of others answers, or a redirect', async t => {
    const own = await answering(t, createServer)
    configure('http://127.0.0.1:1')
    await t.rejects(examineUrl(own), { message: /^http:\/\/127.0.0.1:1 cannot be reached: /, remedy: /--skip url/ })
    const other = createServer((_, response) => response.writeHead(302, { location: 'https://x.test/' }).end())
    await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve))
    t.teardown(() => other.close())
    configure(`http://127.0.0.1:${(other.address() as { port: number }).port}`)
    await t.rejects(examineUrl(own), { message: /a redirect to https:\/\/x.test\/, not as this appliance$/ })
  })

  await t.test('a certificate that no authority has signed, and one that ends soon', async t => {
    const folder = t.testdir()
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
    const how = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30']
    execFileSync('openssl', ['req', ...how, ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' })
    const options = { key: readFileSync(key), cert: readFileSync(cert) }
    const own = await answering(t, handler => createHttpsServer(options, handler as never) as never)
    const shown = own.replace('http://127.0.0.1', 'https://localhost')
    configure(shown)
    await t.rejects(examineUrl(own), {
      message: /self-signed certificate/,
      remedy: /^renew or correct the certificate/
    })
    setDefaultCACertificates([...getCACertificates('default'), options.cert.toString()])
    t.teardown(() => setDefaultCACertificates(getCACertificates('default')))
    t.equal(await examineUrl(own), `the server answers at ${shown}, with a certificate for 29 more days`)
    await t.rejects(examineUrl(own, new Date(Date.now() + 20 * 86_400_000)), {
      message: `the certificate of ${shown} ends in 9 days`
    })
  })
})
