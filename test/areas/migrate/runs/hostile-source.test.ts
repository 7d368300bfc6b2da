// Sources that attack the appliance. Each ends with a named error, and changes nothing here.
import { readdir, readFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { addMigration, findMigration } from '../../../../src/areas/migrate/runs/migrations.js'
import { type Report, runMigration } from '../../../../src/areas/migrate/runs/run.js'
import { config, loadConfig } from '../../../../src/config.js'
import { row } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import { cliProcess } from '../../../helpers/cli.js'
import { someOrigin } from '../../../helpers/factory.js'
import { receiver } from '../../../webhooks/receiver.js'
import type { Answer } from '../forge.js'
import { cloneable, repository } from '../github/conversation.js'

process.env.GITSTEAD_HOOKS_ALLOW = '127.0.0.1'
const app = await testApp(t)
const LIMITS = { imports: { max_size: 2_000_000 }, uploads: { max_size: 100_000 } }
loadConfig(LIMITS)
const TOKEN = 'sesame-open-4711'
const owner = await app.make.user()
const place = await app.make.group({ owner, visibilityLevel: 20 })
const API = '/api/v3/'
const TOOL = `${API}repos/crew/tool`

/** Answers a request, by its path. */
type Attacks = { readonly [path: string]: (response: ServerResponse, url: URL) => void }

let migrations = 0
async function attack(t: Test, attacks: Attacks, change: { readonly [path: string]: Answer } = {}) {
  const { answers } = await cloneable(t)
  Object.assign(answers, change)
  const { port, received } = await receiver(t, (response, target) => {
    const url = new URL(target, `http://127.0.0.1:${port}`)
    const { pathname } = url
    const strike = attacks[pathname]
    if (strike) return strike(response, url)
    const answer = answers[pathname.slice(API.length)]
    if (answer === undefined || typeof answer === 'number') return void response.writeHead(Number(answer ?? 404)).end()
    response.writeHead(200).end(JSON.stringify(answer).replaceAll('FORGE', url.origin))
  })
  const name = `hostile-${++migrations}`
  const url = `http://127.0.0.1:${port}`
  await addMigration(
    name,
    TOKEN,
    {
      kind: 'github',
      url,
      map: { crew: place.path },
      people: {},
      rate: 1000,
      keys: false
    },
    someOrigin
  )
  return { name, url, received }
}

async function run(name: string): Promise<Report> {
  const { signal } = new AbortController()
  return runMigration(
    await findMigration(name),
    { projects: ['crew/tool'], overwrite: false },
    { origin: someOrigin, signal }
  )
}

/** The error of a run: of the run itself, or of its project. */
async function errorOf(name: string): Promise<string> {
  try {
    const [project] = (await run(name)).projects
    return project?.result === 'failed' ? project.error : `no error: ${project?.result}`
  } catch (error) {
    return `${(error as Error).constructor.name}: ${(error as Error).message}`
  }
}

/** What there is: rows, repositories and files. */
async function everything() {
  const tables = ['projects', 'namespaces', 'users', 'members', 'issues', 'merge_requests', 'notes', 'labels', 'hooks']
  const counts: { [name: string]: unknown } = {}
  for (const table of [...tables, 'project_removals', 'migrated_projects', 'migrated_people', 'jobs'])
    counts[table] = (await row<{ total: number }>(`select count(*) as total from ${table}`, []))?.total
  const files = await readdir(config().home, { recursive: true })
  return { counts, files: files.filter(file => !/^(migrations|tmp|log|run)/.test(file)).sort() }
}

const redirect = (location: string) => (response: ServerResponse) =>
  void response.writeHead(302, { location }).end(TOKEN)
const send = (value: unknown) => (response: ServerResponse) => void response.writeHead(200).end(JSON.stringify(value))
/** Sends bytes until the other side has enough. */
const endless = (headers: { readonly [name: string]: string }, chunk: Buffer) => (response: ServerResponse) => {
  response.writeHead(200, headers)
  const more = () => {
    while (!response.destroyed && response.write(chunk));
    if (!response.destroyed) response.once('drain', more)
  }
  response.on('error', () => {})
  more()
}
const SPACES = Buffer.alloc(65_536, ' ')
const large = Array.from({ length: 100 }, (_, at) => ({ id: at, body: 'x'.repeat(500) }))

const ATTACKS: readonly (readonly [
  what: string,
  attacks: Attacks,
  error: RegExp,
  change?: { [path: string]: Answer }
])[] = [
  [
    'a redirect inside',
    { [TOOL]: redirect('http://169.254.169.254/latest') },
    /redirects to another server, http:\/\/169\.254\.169\.254/
  ],
  [
    'a redirect with the token',
    { [TOOL]: redirect(`http://127.0.0.1:9/${TOKEN}?${TOKEN}`) },
    /another server, http:\/\/127\.0\.0\.1:9: give/
  ],
  ['redirects without end', { [`${TOOL}/issues`]: redirect('issues') }, /issues\S* redirects too often/],
  [
    'pages without end',
    {
      [`${TOOL}/issues/comments`]: (response, url) => {
        url.searchParams.set('page', String(Number(url.searchParams.get('page') ?? 1) + 1))
        response.writeHead(200, { link: `<${url.href}>; rel="next"` }).end(JSON.stringify(large))
      }
    },
    /sends more than 2000000 bytes of records \(imports\.max_size\)/
  ],
  [
    'pages that lead to each other',
    {
      [`${TOOL}/labels`]: (response, url) => {
        url.searchParams.set('page', url.searchParams.get('page') === '2' ? '1' : '2')
        response.writeHead(200, { link: `<${url.href}>; rel="next"` }).end('[]')
      }
    },
    /is a page of a list that leads to itself/
  ],
  [
    'a page that unpacks to 64 MB',
    {
      [`${TOOL}/issues`]: response =>
        void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(67_108_864, ' ')))
    },
    /is larger than 33554432 bytes/
  ],
  [
    '1 TB',
    { [`${TOOL}/issues`]: endless({ 'content-length': '1000000000000' }, SPACES) },
    /is larger than 33554432 bytes/
  ],
  ['bytes without end', { [`${TOOL}/issues`]: endless({}, SPACES) }, /is larger than 33554432 bytes/],
  [
    'very many values',
    { [`${TOOL}/labels`]: send(Array.from({ length: 400_000 }, () => [])) },
    /has more than 300000 values/
  ],
  ['an object instead of a list', { [`${TOOL}/issues`]: send({ length: 1 }) }, /issues\S* is not a list/],
  [
    'text instead of JSON',
    { [`${TOOL}/issues`]: response => void response.writeHead(200).end(`{${TOKEN}`) },
    /is not JSON/
  ],
  ['a list instead of a project', { [TOOL]: send([]) }, /is not what the API of GitHub describes/],
  [
    'a path outside',
    {},
    /is not what the API of GitHub describes/,
    { 'repos/crew/tool': { ...repository, full_name: '../../x' } }
  ],
  [
    'a repository that is a file',
    {},
    /gives no http or https URL to clone/,
    { 'repos/crew/tool': { ...repository, clone_url: 'file:///etc' } }
  ],
  [
    'a command as a repository',
    {},
    /gives no http or https URL to clone/,
    { 'repos/crew/tool': { ...repository, clone_url: 'ext::sh -c id' } }
  ],
  [
    'an option as a repository',
    {},
    /gives no http or https URL to clone/,
    { 'repos/crew/tool': { ...repository, clone_url: '--upload-pack=id' } }
  ],
  [
    'a repository inside',
    {},
    /cannot be cloned: imports may not reach the address 10\.0\.0\.1/,
    { 'repos/crew/tool': { ...repository, clone_url: 'http://10.0.0.1/x.git' } }
  ],
  [
    'the token in an error',
    { [TOOL]: response => void response.writeHead(401, { 'www-authenticate': TOKEN }).end(TOKEN) },
    /answered with status 401: the token is wrong/
  ]
]

t.test('attacks end with a named error, and change nothing', async t => {
  const before = await everything()
  for (const [what, attacks, error, change] of ATTACKS) {
    const { name } = await attack(t, attacks, change)
    const found = await errorOf(name)
    t.match(found, error, what)
    t.notMatch(found, TOKEN, `${what}: without the token`)
    t.notMatch(found, /^TypeError|no error/, what)
  }
  t.same(await everything(), before)
})

t.test('tricks with names and files lead nowhere', async t => {
  const comment = (id: number, more: object) => ({
    ...{ id, body: 'x', user: { login: '../../x' }, issue_url: 'x/issues/1', reactions: null, ...more },
    ...{ created_at: '2020-01-01T00:00:00Z', updated_at: '2020-01-01T00:00:00Z' }
  })
  const inline = { pull_request_url: 'x/pulls/3', path: '../../../etc/passwd', line: 1, side: 'RIGHT' }
  const change = {
    'repos/crew/tool/labels': ['../../x', 'a\u0000b', ',', '__proto__'].map(name => ({
      name,
      color: '"><',
      description: null
    })),
    'repos/crew/tool/branches': [{ name: '../../x' }, { name: '--upload-pack=id' }],
    'repos/crew/tool/pulls/comments': [
      comment(1, inline),
      comment(2, { ...inline, pull_request_url: 'x/pulls/../../9' })
    ],
    'repos/crew/tool/hooks': [
      { id: 1, events: ['*'], config: { url: 'file:///etc' }, created_at: '2020-01-01T00:00:00Z', updated_at: 'never' }
    ]
  }
  const names = ['inside', 'large', '..%2F..%2F..%2Fetc%2Fpasswd', '.bashrc', 'a%00b.txt', `${'x'.repeat(900)}.txt`]
  const attacks: { [path: string]: Attacks[string] } = {
    '/user-attachments/files/1/inside': redirect('http://10.0.0.1/secret'),
    '/user-attachments/files/1/large': endless({ 'content-length': '1000000000000' }, SPACES)
  }
  for (const each of names.slice(2))
    attacks[`/user-attachments/files/1/${each}`] = response => void response.end('content')
  const before = await everything()
  const { name } = await attack(t, attacks, {
    ...change,
    'repos/crew/tool/issues/comments': names.map((each, at) =>
      comment(at + 1, { body: `FORGE/user-attachments/files/1/${each}` })
    )
  })
  const { projects } = await run(name)
  t.match(projects, [{ result: 'created', files: 3, counts: { hook: 0, merge_request: 3 } }])
  const reasons = projects
    .flatMap(each => ('skipped' in each ? each.skipped : []))
    .map(({ what, why }) => `${what}: ${why}`)
  t.ok(
    reasons.some(reason => /^files: .*address 10\.0\.0\.1/.test(reason)),
    'a redirect inside'
  )
  t.ok(
    reasons.some(reason => /^files: larger than/.test(reason)),
    '1 TB'
  )
  const added = (await everything()).files.filter(file => !before.files.includes(file))
  const uploads = added.filter(file => /\/[0-9a-f]{32}\/[^/]+$/.test(file)).map(file => file.split('/').at(-1) ?? '')
  t.same(uploads.map(file => file.slice(0, 20)).sort(), ['a_b.txt', 'bashrc', 'x'.repeat(20)])
  t.ok(
    added.every(file => /^(repositories|uploads)(\/|$)/.test(file)),
    'only in the folders of the project'
  )
})

t.test('a token that the source repeats is in no output', async t => {
  const text = `ERR ${TOKEN} is wrong\n`
  const packet = `${(text.length + 4).toString(16).padStart(4, '0')}${text}`
  const refs: Attacks[string] = response =>
    void response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' }).end(packet)
  const denied: Attacks[string] = response =>
    void response.writeHead(403, TOKEN, { 'x-token': TOKEN }).end(JSON.stringify({ message: TOKEN }))
  const { home, database } = config()
  const environment = {
    ...{ GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: database.url ?? '' },
    ...{ GITSTEAD_HOOKS_ALLOW: '127.0.0.1', GITSTEAD_LOG_LEVEL: 'debug' }
  }
  for (const [attacks, expected] of [
    [{ '/evil.git/info/refs': refs }, /cannot be cloned: git could not fetch it/],
    [{ [TOOL]: denied }, /answered with status 403/]
  ] as const) {
    const { name } = await attack(t, attacks, { 'repos/crew/tool': { ...repository, clone_url: 'FORGE/evil.git' } })
    const args = ['migrate', 'run', name, '--project', 'crew/tool']
    const { code, stdout, stderr } = await cliProcess(args, { environment })
    t.equal(code, 1)
    t.match(stdout + stderr, expected)
    t.notMatch(stdout + stderr, TOKEN)
    const report = join(config().home, 'migrations', name, 'report.json')
    t.notMatch(await readFile(report, 'utf8').catch(() => ''), TOKEN)
  }
})
