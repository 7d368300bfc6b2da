// Makes a home with a version of the program, and packs it as a fixture of the upgrade tests:
//
//   node dist/test/upgrade/make-home-process.js PROGRAM test/upgrade/homes/VERSION.tar.gz
//
// PROGRAM is the folder of that version, built. The fixture has the files of the home, a dump of the database, a backup, and the
// answers of the API, which later versions must still give. mariadb-dump must be installed.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ApiAnswer, askApi, eventually, git, remoteUrl } from '../scenarios/client.js'
import { ADDRESS, type Facts, FILES_OF_HOME, READS } from './facts.js'

const [program = '', target = ''] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'gitstead-make-'))
const home = join(folder, 'home')
const PASSWORD = 'a long password of 2026'

const environment = {
  PATH: process.env.PATH ?? '',
  HOME: folder,
  GITSTEAD_HOME: home,
  ...ADDRESS,
  GITSTEAD_PORT: '0',
  GITSTEAD_LOG_LEVEL: 'warn'
}
const command = (args: readonly string[], input = ''): string =>
  execFileSync(join(program, 'bin/gitstead'), [...args], { env: environment, input, encoding: 'utf8' })

const createUser = (username: string, flags: readonly string[]) => {
  const named = ['--username', username, '--email', `${username}@example.org`, '--name', `The ${username}`]
  const made = command(['users', 'create', ...named, ...flags, '--password-stdin', '--json'], `${PASSWORD}\n`)
  return (JSON.parse(made) as { private_token: string }).private_token
}

const root = createUser('root', ['--admin'])
const ada = createUser('ada', [])
const child = spawn(join(program, 'bin/gitstead'), ['up'], { env: environment, stdio: ['ignore', 'pipe', 'inherit'] })
process.on('exit', () => child.kill('SIGKILL'))
let said = ''
child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
const url = await eventually(
  () => /^ready (\S+)$/m.exec(said)?.[1],
  () => 'not yet: it is ready'
)

/** Sends a request. Versions that do not have the route yet answer 404; then there is nothing to keep. */
async function send(token: string, method: string, path: string, body?: unknown): Promise<ApiAnswer<unknown>> {
  const answer = await askApi<unknown>({ url, token }, method, path, body)
  if (answer.status >= 400 && answer.status !== 404)
    throw new Error(`${method} ${path}: ${answer.status} ${answer.bytes}`)
  return answer
}
const make = async (path: string, body: unknown = {}, token = root) =>
  ((await send(token, 'POST', path, body)).json ?? {}) as { id?: number; token?: string }

const CI = `stages: [test]
check:
  stage: test
  script:
    - echo "it works"
    - mkdir out && echo kept > out/file
  artifacts:
    paths: [out/]
`

async function push(clone: string, project: string): Promise<void> {
  const remote = remoteUrl(url, project, 'root', root)
  await git(clone, ['init', '--quiet', '--initial-branch=master'])
  for (const [name, text] of [
    ['README.md', '# Demo\n'],
    ['ünïcödé.txt', 'text\n'],
    ['.gitstead-ci.yml', CI]
  ] as const) {
    writeFileSync(join(clone, name), text)
    await git(clone, ['add', '.'])
    await git(clone, ['commit', '--quiet', '-m', `Add ${name}`])
  }
  await git(clone, ['tag', '-m', 'The first', 'v1.0'])
  await git(clone, ['push', '--quiet', remote, 'master', 'v1.0'])
  await git(clone, ['checkout', '--quiet', '-b', 'topic', 'HEAD~1'])
  writeFileSync(join(clone, 'topic.txt'), 'topic\n')
  await git(clone, ['add', '.'])
  await git(clone, ['commit', '--quiet', '-m', 'Add a topic'])
  await git(clone, ['push', '--quiet', remote, 'topic'])
}

await make('/projects', { name: 'Demo', path: 'demo', visibility_level: 0, snippets_enabled: true })
await make('/projects', { name: 'Empty', visibility_level: 20 })
const clone = join(folder, 'clone')
mkdirSync(clone)
await push(clone, 'root/demo')
const builds = () =>
  send(root, 'GET', '/projects/1/builds').then(({ json }) => json as { id: number; status: string }[])
await eventually(
  async () => {
    const all = await builds()
    return all.length > 0 && all.every(({ status }) => status === 'success')
  },
  () => 'not yet: the builds have ended'
)
await eventually(
  async () => {
    const kept = await Promise.all(
      (await builds()).map(({ id }) => send(root, 'POST', `/projects/1/builds/${id}/artifacts/keep`))
    )
    return kept.length > 0
  },
  () => 'not yet: their artifacts can be kept'
)

const personal = await make('/personal_access_tokens', { name: 'script', scopes: ['api'] }, ada)
await make(
  '/user/keys',
  { title: 'laptop', key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJsS/ZtUPNPXvGsYvULUf0Lb3yTEbgcRVZUO6Y4wmY2A laptop' },
  ada
)
await make('/user/emails', { email: 'ada@second.example' }, ada)
await make('/hooks', { url: 'http://127.0.0.1:9/hook', token: 'a secret of the hook' })
await make('/broadcast_messages', { message: 'Hello', ends_at: '2099-01-01T00:00:00Z' })
await send(root, 'PUT', '/application/settings', {
  default_projects_limit: 42,
  home_page_url: 'https://example.org/start'
})
await make('/projects/1/members', { user_id: 2, access_level: 30 })
await make('/groups', { name: 'Team', path: 'team', description: 'a group' })
await make('/groups/team/members', { user_id: 2, access_level: 40 })
await make('/projects/1/labels', { name: 'bug', color: '#ff0000' })
await make('/projects/1/milestones', { title: 'v1', description: 'the first', due_date: '2030-01-01' })
await make('/projects/1/issues', {
  title: 'It fails',
  description: 'see @ada',
  labels: 'bug',
  milestone_id: 1,
  assignee_id: 2
})
await make('/projects/1/issues', { title: 'Done', confidential: true })
await send(root, 'PUT', '/projects/1/issues/2', { state_event: 'close' })
await make('/projects/1/issues/1/notes', { body: 'I **agree**' }, ada)
await make('/projects/1/issues/1/award_emoji', { name: 'thumbsup' }, ada)
await make('/projects/1/merge_requests', { title: 'A topic', source_branch: 'topic', target_branch: 'master' })
await make('/projects/1/merge_requests/1/notes', { body: 'Looks good' }, ada)
await make('/projects/1/snippets', { title: 'A snippet', file_name: 'a.txt', code: 'text', visibility_level: 0 })
await make('/projects/1/variables', { key: 'SECRET', value: 'an encrypted value' })
const trigger = await make('/projects/1/triggers', { description: 'from outside' })
await make('/projects/1/deploy_keys', {
  title: 'deploy',
  key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIC2Ot5gP4uC5lpBzDbYBmBkqgRYoaOnNXyDAzZ9oMVsE deploy'
})
await make('/projects/1/hooks', { url: 'http://127.0.0.1:9/project', token: 'another secret', push_events: true })
await make('/projects/1/star', {}, ada)
await make('/projects/1/environments', { name: 'production', external_url: 'https://example.org' })
await make('/applications', { name: 'client', redirect_uri: 'https://client.example/callback', scopes: 'api' })

const answers: Record<string, unknown> = {}
for (const path of READS) {
  const { status, json } = await send(root, 'GET', path)
  if (status === 200) answers[path] = json
}
const traces: Record<string, string> = {}
for (const { id } of await builds())
  traces[id] = (await send(root, 'GET', `/projects/1/builds/${id}/trace`)).bytes.toString()
const packed = join(folder, 'packed')
command(['backup', 'create', '--to', join(packed, 'backups'), '--with-secrets', '--json'])
const { database_password: password } = JSON.parse(readFileSync(join(home, 'secrets.json'), 'utf8'))
const dump = execFileSync(
  'mariadb-dump',
  [
    '--user=root',
    `--socket=${join(home, 'run/mysql.sock')}`,
    '--single-transaction',
    '--skip-comments',
    '--hex-blob',
    '--databases',
    'gitstead'
  ],
  { env: { ...environment, MYSQL_PWD: password }, maxBuffer: 2 ** 27, encoding: 'utf8' }
)
// The fixture is loaded into a database with another name, which needs the same collation.
const collation = /^CREATE DATABASE .* COLLATE (\w+) /m.exec(dump)?.[1]
const statements = dump.replace(/^(CREATE DATABASE|USE) .*$/gm, '')
child.kill('SIGTERM')
await once(child, 'exit')
// What is not committed to the repository: the database itself, sockets and logs.
for (const name of FILES_OF_HOME) cpSync(join(home, name), join(packed, 'home', name), { recursive: true, force: true })
writeFileSync(join(packed, 'database.sql'), `alter database collate ${collation};\n${statements}`)
const facts: Facts = {
  version: command(['--version']).trim(),
  password: PASSWORD,
  tokens: { root, ada, personal: personal.token ?? null, trigger: trigger.token ?? null },
  refs: (await git(clone, ['ls-remote', join(home, repositoryOf(home))])).split('\n'),
  answers,
  traces
}
writeFileSync(join(packed, 'facts.json'), JSON.stringify(facts, null, 1))
execFileSync('tar', [
  '--create',
  '--gzip',
  '--sort=name',
  '--owner=0',
  '--group=0',
  '--numeric-owner',
  `--file=${target}`,
  '-C',
  packed,
  '.'
])
rmSync(folder, { recursive: true, force: true })

/** The repository of the project with commits. */
function repositoryOf(at: string): string {
  const found = execFileSync('find', ['repositories', '-name', '*.git', '-type', 'd'], { cwd: at, encoding: 'utf8' })
  const withCommits = found
    .trim()
    .split('\n')
    .find(path => execFileSync('git', ['-C', join(at, path), 'for-each-ref']).length > 0)
  if (withCommits === undefined) throw new Error('no repository has commits')
  return withCommits
}
