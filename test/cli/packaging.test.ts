// Checks the files in config/ for service managers, cron and Docker: their commands exist, and they do not forbid what builds
// need.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { root } from '../../src/config.js'
import { cliProcess } from '../helpers/cli.js'
import { callsIn, misunderstood } from '../helpers/command-line.js'
import t from '../helpers/tap.js'

const read = (path: string) => readFileSync(join(root, path), 'utf8')

t.test('units start commands that exist, and stop the main process first', async t => {
  const units = readdirSync(join(root, 'config/systemd')).filter(name => name.endsWith('.service'))
  t.same(units.sort(), ['gitstead-server.service', 'gitstead-worker.service', 'gitstead.service'])
  for (const unit of units) {
    const text = read(`config/systemd/${unit}`)
    const started = [...text.matchAll(/^ExecStart(?:Pre)?=\/opt\/gitstead\/bin\/gitstead (.*)$/gm)]
    t.ok(started.length > 0, unit)
    for (const [, line = ''] of started) t.equal(misunderstood(line), undefined, unit)
    for (const line of ['KillMode=mixed', 'NoNewPrivileges=yes', 'ProtectSystem=strict', 'StateDirectory=gitstead']) {
      t.ok(text.includes(`\n${line}\n`), `${unit} ${line}`)
    }
    t.match(text, /^TimeoutStopSec=(\d+)$/m)
  }
})

// After a power cut of all machines, the units gave up before the database was back.
t.test('units wait for shared folders, and start again until the database answers', async t => {
  for (const unit of ['gitstead', 'gitstead-server', 'gitstead-worker']) {
    const text = read(`config/systemd/${unit}.service`)
    t.match(text, /^After=.*\bremote-fs\.target\b/m, unit)
    t.match(text, /^StartLimitIntervalSec=0$/m, unit)
    t.match(text, /^Restart=on-failure$/m, unit)
  }
})

t.test('the socket units have the sockets in the order in which the server takes them', async t => {
  for (const unit of ['gitstead', 'gitstead-server']) {
    const text = read(`config/systemd/${unit}.socket`)
    const ports = [...text.matchAll(/^ListenStream=.*:(\d+)$/gm)].map(([, port]) => port)
    t.same(ports, ['8080', '2222'], unit)
  }
})

t.test('units that run builds do not forbid what bubblewrap needs', async t => {
  // We tried each: with any of these settings, bubblewrap 0.8 ends with an error.
  const fatal = [
    'RestrictNamespaces',
    'ProtectKernelTunables',
    'ProtectKernelLogs',
    'ProcSubset',
    'ProtectHostname',
    'MemoryDenyWriteExecute'
  ]
  for (const unit of ['gitstead.service', 'gitstead-worker.service']) {
    const text = read(`config/systemd/${unit}`)
    for (const name of fatal) t.notMatch(text, new RegExp(`^${name}=`, 'm'), `${unit} ${name}`)
    t.match(text, /^RestrictAddressFamilies=.*AF_NETLINK/m, 'bubblewrap needs netlink for the loopback of a build')
    t.match(text, /^SystemCallFilter=~/m, 'a list of allowed calls would also limit the programs of builds')
  }
  const server = read('config/systemd/gitstead-server.service')
  for (const name of fatal.slice(0, 3)) t.match(server, new RegExp(`^${name}=yes$`, 'm'))
})

t.test('the sandbox works without new privileges, as the units start it', async t => {
  const home = join(t.testdir(), 'home')
  const command = [
    '--no-new-privs',
    'env',
    '-u',
    'NODE_OPTIONS',
    process.execPath,
    join(root, 'bin/gitstead'),
    'doctor'
  ]
  let printed: string
  try {
    printed = execFileSync('setpriv', [...command, '--json', '--home', home], { encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    // Other checks may fail on this home. Only the sandbox check matters here.
    printed = String((error as { stdout: string }).stdout)
  }
  const { checks } = JSON.parse(printed) as { checks: { name: string; ok: boolean }[] }
  t.match(
    checks.find(({ name }) => name === 'sandbox'),
    { ok: true }
  )
})

t.test('the command of the service is a valid sh script', async t => {
  const path = join(root, 'config/systemd/gitstead')
  t.equal(statSync(path).mode & 0o777, 0o755)
  execFileSync('sh', ['-n', path])
})

t.test('cron calls commands that exist', async t => {
  const lines = read('config/cron/gitstead').split('\n')
  const jobs = lines.filter(line => /^[\d*]/.test(line))
  t.ok(jobs.length >= 4)
  for (const line of jobs) {
    const calls = callsIn(line.replace(/^(?:\S+\s+){6}/, ''))
    t.ok(calls.length > 0, line)
    for (const call of calls) t.equal(misunderstood(call), undefined, line)
    t.notMatch(line, '%', 'cron would replace it with a line break')
  }
})

t.test('packages contain every file that the program reads', async t => {
  const [, copied = ''] = /^const COPIED = \[(.*)\]$/m.exec(read('scripts/package/tree.mjs')) ?? []
  const kept = [...copied.matchAll(/'([^']+)'/g)].map(([, path = '']) => path)
  for (const path of kept.filter(path => !path.startsWith('oclif'))) t.ok(existsSync(join(root, path)), path)
  const wanted = sources('src').flatMap(file =>
    [...readFileSync(file, 'utf8').matchAll(/join\(root, '([\w./-]+)'/g)].map(([, path = '']) => path)
  )
  t.ok(wanted.length >= 3)
  // The tree has these as well; it makes a package.json of its own.
  const known = [...kept, 'dist/src', 'dist/bundle', 'package.json']
  for (const path of wanted)
    t.ok(
      known.some(each => path === each || path.startsWith(`${each}/`)),
      path
    )
  t.match(read('config/docker/Containerfile'), /^USER gitstead$/m)
})

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter(entry => entry.isFile() && entry.name.endsWith('.ts'))
    .map(entry => join(entry.parentPath, entry.name))
}

/** Values for what the file takes from `.env`. */
const EXAMPLES = {
  DATABASE_URL: 'mysql://gitstead:x@db.example.org/gitstead',
  S3_BUCKET: 'gitstead',
  S3_ENDPOINT: 'https://s3.example.org'
}

t.test('compose starts commands that exist, after the schema', async t => {
  const { services } = parse(read('config/docker/compose.yaml'), { merge: true }) as {
    services: { [name: string]: { command?: string[]; depends_on?: object; environment: { [name: string]: string } } }
  }
  t.same(Object.keys(services), ['migrate', 'server', 'worker'])
  for (const name of ['migrate', 'server', 'worker']) {
    t.equal(misunderstood(services[name]?.command?.join(' ') ?? ''), undefined, name)
  }
  for (const name of ['server', 'worker']) {
    t.match(services[name]?.depends_on, { migrate: { condition: 'service_completed_successfully' } })
  }
  // The settings must exist: the container would exit with an unknown setting.
  const values = Object.entries(services.worker?.environment ?? {})
  t.ok(values.length > 0)
  const filled = values.map(([name, value]) => [
    name,
    value
      .replace(/\$\{\w+:-(.*?)\}/, '$1')
      .replace(/\$\{(\w+).*?\}/, (_, key) => EXAMPLES[key as keyof typeof EXAMPLES] ?? 'x')
  ])
  const environment = Object.fromEntries(filled) as { [name: string]: string }
  const { code, stderr } = await cliProcess(['openapi', '--home', t.testdir()], { environment })
  t.equal(code, 0, stderr)
})

t.test('nginx does not buffer pushes, clones, traces, artifacts and archives', async t => {
  const text = read('config/nginx/gitstead.conf')
  const unbuffered = [...text.matchAll(/location ~ (\S+) \{([^}]*)\}/g)]
    .filter(([, , body = '']) => /proxy_request_buffering off/.test(body) && /proxy_buffering off/.test(body))
    .map(([, pattern = '']) => new RegExp(pattern))
  // nginx compares decoded paths, so `ada%2Fengine` has two parts.
  for (const path of [
    '/ada/engine.git/git-receive-pack',
    '/ada/engine.git/git-upload-pack',
    '/api/v3/projects/1/builds/7/trace',
    '/api/v3/projects/ada/engine/builds/7/artifacts',
    '/api/v3/projects/ada/engine/repository/archive',
    '/api/v4/jobs/7/artifacts',
    '/ci/api/v1/builds/7/artifacts'
  ])
    t.ok(
      unbuffered.some(pattern => pattern.test(path)),
      path
    )
})
