// What a sysadmin reads in the log: requests, starts, stops, and a database that hangs and comes back.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { until } from '../helpers/until.js'
import { makeUser, startAppliance } from './appliance.js'

interface Line {
  readonly msg: string
  readonly process: string
  readonly request?: string
  readonly [field: string]: unknown
}

t.test('the log of an appliance', async t => {
  const home = mkdtempSync(join(tmpdir(), 'gitstead-logs-'))
  t.teardown(() => rmSync(home, { recursive: true, force: true }))
  const { private_token: token } = await makeUser(home, 'ada')
  const environment = {
    GITSTEAD_LOG_REQUESTS: 'all',
    GITSTEAD_METRICS_ALLOW: '127.0.0.1',
    GITSTEAD_DATABASE_TIMEOUT: '1'
  }
  const appliance = await startAppliance({ home, environment })
  const lines = () =>
    appliance
      .log()
      .split('\n')
      .filter(line => line.startsWith('{'))
      .map(line => JSON.parse(line) as Line)
  const find = (msg: string, of: (line: Line) => boolean = () => true) =>
    until(msg, () => lines().find(line => line.msg === msg && of(line)))
  const ask = (path: string, headers: Record<string, string> = {}) => fetch(`${appliance.url}${path}`, { headers })

  t.test('has a line for each request, with the id of its answer and no secret', async t => {
    const answer = await ask(`/api/v3/projects?private_token=${token}`)
    const id = answer.headers.get('x-request-id')
    t.ok(id)
    const line = await find('request', ({ request }) => request === id)
    t.match(line, { process: 'server', method: 'GET', route: '/api/v3/projects', status: 200, user: 'ada', ms: Number })
    const named = await ask('/api/v3/user', { 'x-request-id': 'proxy-7:a/b' })
    t.equal(named.headers.get('x-request-id'), 'proxy-7:a/b', 'the id of a proxy is kept')
    t.match(await find('request', ({ request }) => request === 'proxy-7:a/b'), { status: 401, user: null })
    const odd = await ask('/api/v3/user', { 'x-request-id': '{"x":1}' })
    t.not(odd.headers.get('x-request-id'), '{"x":1}')
    t.notMatch(appliance.log(), token)
  })

  t.test('names the user of git, and has a line for a URL without a route', async t => {
    const id = 'git-1'
    const basic = `Basic ${Buffer.from(`ada:${token}`).toString('base64')}`
    const headers = { authorization: basic, 'x-request-id': id }
    t.equal((await ask('/ada/none.git/info/refs?service=git-upload-pack', headers)).status, 404)
    const route = '/:namespace/:project/info/refs'
    t.match(await find('request', ({ request }) => request === id), { route, status: 404, user: 'ada' })
    const bad = await ask('/%zz', { 'x-request-id': 'bad-1' })
    t.equal(bad.status, 400)
    t.equal(bad.headers.get('x-request-id'), 'bad-1')
    t.match(await find('request', ({ request }) => request === 'bad-1'), { route: 'unknown', status: 400, user: null })
  })

  t.test('reports when the database is lost and back', async t => {
    const { database = 0 } = appliance.processes()
    process.kill(database, 'SIGSTOP')
    const [api, readiness, metrics] = await Promise.all([
      ask('/api/v3/projects', { 'private-token': token }),
      ask('/-/readiness'),
      ask('/-/metrics')
    ])
    process.kill(database, 'SIGCONT')
    t.equal(api.status, 503)
    t.equal(readiness.status, 503)
    t.match(await metrics.text(), /^gitstead_database_up 0$/m)
    const lost = await find('the database is lost', line => line.process === 'server')
    t.match(lost, { level: 'error' })
    await until('the API is back', async () => (await ask('/-/readiness')).status === 200)
    t.match(await find('the database is back', line => line.process === 'server'), { level: 'warn', away_ms: Number })
  })

  t.test('shows the home to ps, and reports when parts start and stop', async t => {
    const { server, worker } = appliance.processes()
    for (const pid of [appliance.pid, server, worker]) {
      t.match(readFileSync(`/proc/${pid}/cmdline`, 'latin1'), `--home ${home}`)
    }
    t.equal(await appliance.stop(), 0)
    for (const text of [
      'appliance ready',
      'server ready',
      'worker ready',
      'server stops',
      'worker stops',
      'appliance stops'
    ]) {
      t.ok(
        lines().some(({ msg }) => msg === text),
        text
      )
    }
  })
})
