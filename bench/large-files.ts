// Measures transfers of git LFS, compared in turns with nginx that serves the same files from the same folder. The clients are curl, which
// hashes what it gets of the large file, and git-lfs. nginx must be installed (apt install nginx-light).
import { execFile, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Prepared, withAppliance } from './lib/appliance.js'
import { atExit, temporaryFolder } from './lib/clean-up.js'
import { median, report } from './lib/figure.js'
import { freePort } from './lib/free-port.js'
import { cpuOf } from './lib/processes.js'
import { createProject } from './lib/rest.js'

const LIMIT = 1.1
const ROUNDS = 7
const LARGE = 500_000_000
const SMALL = 100_000
const FILES = 200
/** The client names so many files in one request. */
const BATCH = 100
const run = promisify(execFile)

type Side = 'ours' | 'nginx'

/** Starts nginx in a folder; `/get` gives the objects of the home, `/put` takes files, and `/lfs` answers with the file `batch`. */
async function startNginx(folder: string, home: string): Promise<{ readonly url: string; readonly pid: number }> {
  const port = await freePort()
  mkdirSync(join(folder, 'put'))
  const configuration = `daemon off; user root; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
    events { worker_connections 64; }
    http { access_log off; sendfile on; tcp_nopush on; client_max_body_size 0; client_body_temp_path ${folder}/body;
      proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi; scgi_temp_path ${folder}/scgi;
      uwsgi_temp_path ${folder}/uwsgi;
      server { listen 127.0.0.1:${port};
        location /get/ { alias ${home}/lfs/; }
        location /put/ { root ${folder}; dav_methods PUT; }
        location /lfs/ { return 405; error_page 405 =200 /batch; }
        location /batch { root ${folder}; default_type application/vnd.git-lfs+json; } } }`
  writeFileSync(join(folder, 'nginx.conf'), configuration)
  const nginx = spawn('nginx', ['-c', join(folder, 'nginx.conf')], { stdio: 'inherit' })
  atExit(() => nginx.kill('SIGTERM'))
  // It must not keep this process from its end.
  nginx.unref()
  const url = `http://127.0.0.1:${port}`
  for (let tries = 0; tries < 100; tries++) {
    if (await fetch(url).then(Boolean, () => false)) return { url, pid: nginx.pid ?? 0 }
    await sleep(50)
  }
  throw new Error('nginx did not start')
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return (performance.now() - started) / 1000
}

interface Comparison {
  readonly name: string
  /** Returns the seconds of processor that a side has used so far. */
  readonly processor: (side: Side) => number
  readonly work: (side: Side) => Promise<unknown>
}

/** Runs the same work on both sides, in turns. */
async function compare({ name, processor, work }: Comparison): Promise<void> {
  const times: Record<Side, number[]> = { ours: [], nginx: [] }
  const used: Record<Side, number> = { ours: 0, nginx: 0 }
  for (let round = 0; round < ROUNDS; round++) {
    const sides: Side[] = round % 2 === 0 ? ['ours', 'nginx'] : ['nginx', 'ours']
    for (const side of sides) {
      const before = processor(side)
      times[side].push(await timed(() => work(side)))
      used[side] += processor(side) - before
    }
  }
  const [ours, nginx] = [median(times.ours), median(times.nginx)]
  report({
    ...{ name, value: ours / nginx, unit: "of nginx's time", limit: LIMIT, better: 'lower' },
    comparison: `${ours.toFixed(3)} s against ${nginx.toFixed(3)} s`,
    detail: { processor: used.ours / ROUNDS, nginx_processor: used.nginx / ROUNDS }
  })
}

/** Makes a repository that names files, and returns a function that gets them from an address as a new clone does. */
async function cloneIn(folder: string, oids: readonly string[]): Promise<(address: string) => Promise<unknown>> {
  const work = join(folder, 'work')
  const identity = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@example.org' }
  const committer = { GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@example.org' }
  const env = { ...process.env, ...identity, ...committer, HOME: folder, GIT_CONFIG_NOSYSTEM: '1' }
  const git = (...words: string[]) => run('git', ['-C', work, ...words], { env })
  mkdirSync(work)
  for (const oid of oids) {
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${SMALL}\n`
    writeFileSync(join(work, `${oid}.bin`), pointer)
  }
  for (const words of [
    ['init', '--quiet'],
    ['add', '.'],
    ['commit', '--quiet', '--message', 'Files']
  ])
    await git(...words)
  return address => {
    rmSync(join(work, '.git/lfs'), { recursive: true, force: true })
    return git('-c', `remote.origin.url=${address}`, '-c', `lfs.url=${address}`, 'lfs', 'fetch', 'origin', 'HEAD')
  }
}

const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const placeOf = (oid: string) => `${oid.slice(0, 2)}/${oid.slice(2, 4)}/${oid}`

async function measure(appliance: Prepared): Promise<void> {
  const folder = temporaryFolder()
  const { url: nginx, pid } = await startNginx(folder, appliance.home)
  const { server, database } = appliance.parts
  const processor = (side: Side) => (side === 'ours' ? cpuOf(server) + cpuOf(database) : cpuOf(pid))
  const project = await createProject(appliance, 'large', { public: true })
  const objects = `${appliance.url}/${project.path_with_namespace}.git/info/lfs/objects`
  const token = ['--header', `PRIVATE-TOKEN: ${appliance.admin.token}`]
  const put = (file: string, url: string, more: readonly string[] = []) =>
    run('curl', ['--silent', '--fail', '--output', '/dev/null', ...more, '--upload-file', file, url])
  const store = async (bytes: Buffer) => {
    const [oid, file] = [hashOf(bytes), join(folder, 'one')]
    writeFileSync(file, bytes)
    await put(file, `${objects}/${oid}`, token)
    return oid
  }

  const bytes = randomBytes(LARGE)
  const file = join(folder, 'large')
  writeFileSync(file, bytes)
  const large = await store(bytes)
  const urlOf = (side: Side, oid: string) => (side === 'ours' ? `${objects}/${oid}` : `${nginx}/get/${placeOf(oid)}`)
  const download = (side: Side) => run('bash', ['-c', 'curl --silent --fail "$0" | sha256sum', urlOf(side, large)])
  await compare({ name: 'download of 500 MB', processor, work: download })
  let number = 0
  const upload = async (side: Side) => {
    if (side === 'ours') return put(file, `${objects}/${large}`, token)
    await put(file, `${nginx}/put/${++number}`)
    rmSync(join(folder, 'put', String(number)))
  }
  await compare({ name: 'upload of 500 MB', processor, work: upload })
  const small: string[] = []
  for (let at = 0; at < FILES; at++) small.push(await store(randomBytes(SMALL)))
  const downloads = (side: Side) =>
    run('curl', ['--silent', '--fail', ...small.flatMap(oid => ['--output', '/dev/null', urlOf(side, oid)])])
  await compare({ name: `download of ${FILES} files of 100 KB`, processor, work: downloads })
  const some = small.slice(0, BATCH)
  const clone = await cloneIn(folder, some)
  const answer = some.map(oid => {
    const actions = { download: { href: urlOf('nginx', oid) } }
    return { oid, size: SMALL, authenticated: true, actions }
  })
  writeFileSync(join(folder, 'batch'), JSON.stringify({ transfer: 'basic', hash_algo: 'sha256', objects: answer }))
  const addresses = { ours: objects.replace(/\/objects$/, ''), nginx: `${nginx}/lfs` }
  const fetchAll = (side: Side) => clone(addresses[side])
  await compare({ name: `git lfs fetch of ${BATCH} files of 100 KB`, processor, work: fetchAll })
}

await withAppliance({}, measure)
