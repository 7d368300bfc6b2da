// Tests the commands for tokens, SSH keys and mail addresses as scripts use them: with --json and exit codes.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { beginSession } from '../../src/areas/people/credentials/credentials.js'
import { createUser } from '../../src/areas/people/users/users.js'
import { rows } from '../../src/db/connect/sql.js'
import { type Asker, testApp } from '../helpers/app.js'
import { cli } from '../helpers/cli.js'
import { testDatabase } from '../helpers/database.js'
import { someOrigin, type TestUser } from '../helpers/factory.js'
import { waitingEvents } from '../helpers/published.js'
import { newKey, privateKeyFile } from '../helpers/ssh-keys.js'
import t from '../helpers/tap.js'

const { home, databaseUrl } = await testDatabase()
mkdirSync(home, { recursive: true, mode: 0o700 })
const app = await testApp(t)

const environment = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl }
const run = (args: string[], input?: string) => cli(args, { environment, input })
const json = async <T>(args: string[], input?: string) => {
  const { code, stdout, stderr } = await run([...args, '--json'], input)
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stdout}${stderr}`)
  return JSON.parse(stdout) as T
}
const by = (privateToken: string): Asker => app.as({ privateToken } as TestUser)

const body = { username: 'ada', name: 'Ada', email: 'ada@example.org', password: 'long enough' }
const ada = await createUser(body, someOrigin)
const bert = await app.make.user({ username: 'bert' })
const root = app.as(await app.make.admin())

interface Token {
  id: number
  token: string
  expires_at: string
}
interface Key {
  id: number
  key: string
}

t.test('tokens create prints the token once', async t => {
  const { id, token, ...rest } = await json<Token>(['tokens', 'create', '--user', 'ada', '--name', 'backup'])
  t.match(rest, { name: 'backup', scopes: ['api'], expires_at: null, active: true, user_id: ada.id })
  t.equal((await by(token).get('/user')).json().username, 'ada')
  t.match((await root.get(`/personal_access_tokens/${id}`)).json(), { id, name: 'backup', user_id: ada.id })
  const said = await run(['tokens', 'create', '--user', 'ada@example.org', '--name', 'x', '--scope', 'read_user'])
  t.equal(said.code, 0)
  t.match(said.stdout, /^created token \d+ \(read_user; does not expire\)\ntoken: [\w-]{20}\n$/)
  for (const args of [
    ['tokens', 'list', '--all'],
    ['tokens', 'list', '--json'],
    ['audit', 'list', '--json']
  ]) {
    t.notOk((await run(args)).stdout.includes(token), args.join(' '))
  }
})

t.test('tokens create takes scopes and an expiry', async t => {
  const make = (...flags: string[]) =>
    json<Token>(['tokens', 'create', '--user', String(ada.id), '--name', 'x', ...flags])
  const both = await make('--scope', 'read_user', '--scope', 'api', '--expires-at', '2999-12-31')
  t.match(both, { scopes: ['read_user', 'api'], expires_at: '2999-12-31' })
  const { expires_at } = await make('--expires-in', '90d')
  const days = (Date.parse(expires_at) - Date.now()) / 86_400_000
  t.ok(days >= 90 && days <= 91, `rounded up to a whole day: ${days}`)
})

t.test('tokens list shows active tokens, and all tokens with --all', async t => {
  const list = (...flags: string[]) => json<{ tokens: Token[]; total: number }>(['tokens', 'list', ...flags])
  const { id } = await json<Token>(['tokens', 'create', '--user', 'bert', '--name', 'for bert'])
  t.match(await list('--user', 'bert'), { tokens: [{ id, name: 'for bert', user_id: bert.id }], total: 1 })
  t.match(await json(['tokens', 'revoke', String(id), '--dry-run']), { would_revoke: { id, revoked: false } })
  t.match(await list('--user', 'bert'), { total: 1 }, 'the dry run changed nothing')
  t.match(await json(['tokens', 'revoke', String(id), '--yes']), { revoked: { id, revoked: true, active: false } })
  t.same(await list('--user', 'bert'), { tokens: [], total: 0 })
  t.match(await list('--user', 'bert', '--all'), { tokens: [{ id, revoked: true }], total: 1 })
  t.equal((await run(['tokens', 'list', '--user', 'bert'])).stdout, 'none\n')
  t.match(
    (await run(['tokens', 'list', '--user', 'bert', '--all'])).stdout,
    /^ID .*STATE .*\n\d+ +bert +for bert +api +revoked /
  )
  const first = await list('--limit', '1')
  t.equal(first.tokens.length, 1)
  t.ok(first.total > 1)
  t.match(
    (await run(['tokens', 'list', '--limit', '1'])).stderr,
    /^1 of \d+ tokens: raise --limit, or use --all, to see more\n$/
  )
})

t.test('tokens reset-private creates a new token, but not with --dry-run', async t => {
  const dry = await json<{ would_reset: object }>(['tokens', 'reset-private', 'ada', '--dry-run'])
  t.match(dry, { would_reset: { username: 'ada' } })
  t.notOk('private_token' in dry.would_reset)
  t.equal((await by(ada.privateToken).get('/user')).statusCode, 200)
  const { private_token } = await json<{ private_token: string }>(['tokens', 'reset-private', 'ada', '--yes'])
  t.equal((await by(ada.privateToken).get('/user')).statusCode, 401)
  t.equal((await by(private_token).get('/user')).json().username, 'ada')
})

t.test('oauth applications are created, listed and deleted', async t => {
  const command = ['oauth', 'applications']
  const uri = 'https://board.example.org/cb'
  const create = [...command, 'create', '--name', 'board', '--redirect-uri', uri]
  const made = await json<{ id: number; application_id: string; secret: string }>([...create, '--scope', 'read_user'])
  t.match(made, { application_name: 'board', callback_url: uri, scopes: ['read_user'], confidential: true })
  const login = { grant_type: 'client_credentials', client_id: made.application_id, client_secret: made.secret }
  const token = await app.fastify.inject({ method: 'POST', url: '/oauth/token', payload: login })
  t.equal(token.statusCode, 200, 'the credentials work')

  const said = await run([...create, '--redirect-uri', 'org.example:/cb', '--public'])
  t.match(said.stdout, /^registered application \d+ \(api\)\nclient_id: [0-9a-f]{64}\nclient_secret: [0-9a-f]{64}\n$/)
  const list = await json<{ applications: object[]; total: number }>([...command, 'list'])
  const { secret, ...shown } = made
  t.same(list.applications[1], shown)
  t.match(list, { applications: [{ confidential: false }, {}], total: 2 })
  t.notMatch((await run([...command, 'list'])).stdout, secret)
  t.same(await json([...command, 'list', '--user', 'ada']), { applications: [], total: 0 })

  t.equal((await run([...create.slice(0, -1), 'javascript:x'])).code, 2)
  t.match(await json([...command, 'delete', String(made.id), '--dry-run']), { would_delete: { id: made.id } })
  t.equal((await run([...command, 'delete', String(made.id)])).code, 2, 'it needs a confirmation')
  t.match(await json([...command, 'delete', String(made.id), '--yes']), { deleted: { id: made.id } })
  t.equal((await run([...command, 'delete', String(made.id), '--yes'])).code, 3)
  const events = await rows("select via from audit_events where target_type = 'application' order by id")
  t.same(
    events.map(event => (event as { via: string }).via),
    ['command', 'oauth', 'command', 'command']
  )
})

t.test('audit list --all has no limit', async t => {
  const count = (await rows('select id from audit_events')).length
  const all = await json<{ audit_events: object[]; total: number }>(['audit', 'list', '--all'])
  t.equal(all.audit_events.length, count)
  t.equal(all.total, count)
  const some = await json<{ audit_events: object[] }>(['audit', 'list', '--all', '--action', 'application.delete'])
  t.equal(some.audit_events.length, 1)
})

t.test('audit list shows the provider and the second factor of sign-ins', async t => {
  const user = { id: ada.id, username: 'ada', name: 'Ada', email: 'ada@example.org', admin: false, external: false }
  await beginSession({ user, provider: 'okta', factor: 'totp' }, { address: '192.0.2.1', userAgent: 'test' })
  const { stdout } = await run(['audit', 'list', '--provider', 'okta', '--factor', 'totp'])
  t.match(stdout, /session\.create +session .* provider okta, factor totp\n$/)
  t.match(await json(['audit', 'list', '--provider', 'password']), { total: 0 })
})

t.test('keys are added from standard input and files, listed, shown and removed', async t => {
  const [first, second] = [newKey('ada@laptop'), newKey('ada@desk')]
  const file = join(t.testdir({ 'id.pub': `${second}\n` }), 'id.pub')
  const laptop = await json<Key>(['keys', 'add', '--user', 'ada', '--title', 'laptop'], `${first}\n`)
  t.match(laptop, { title: 'laptop', key: first, can_push: false })
  const desk = await json<Key>(['keys', 'add', '--user', 'ada', '--title', 'desk', '--file', file])
  t.match(await json(['keys', 'list', '--user', 'ada']), {
    keys: [
      { id: desk.id, key: second, fingerprint: /^SHA256:.{43}$/, user_id: ada.id, username: 'ada', last_used_at: null },
      { id: laptop.id }
    ],
    total: 2
  })
  t.same(await json(['keys', 'list', '--user', 'bert']), { keys: [], total: 0 })
  t.match((await run(['keys', 'list'])).stdout, /^ID .*\n\d+ +ada +desk +ssh-ed25519 +SHA256:/)
  const { user, ...record } = await json<Key & { user: object }>(['keys', 'show', String(desk.id)])
  t.same(record, desk)
  t.match(user, { id: ada.id, email: body.email, is_admin: false })
  t.match(
    (await run(['keys', 'show', String(desk.id)])).stdout,
    /^id: \d+\nuser: ada\ntitle: desk\nfingerprint: SHA256:/
  )
  const remove = ['keys', 'remove', String(desk.id)]
  t.match(await json([...remove, '--dry-run']), { would_delete: { id: desk.id, username: 'ada' } })
  t.match(await json(['keys', 'list']), { total: 2 }, 'the dry run changed nothing')
  t.match(await json([...remove, '--yes']), { deleted: { id: desk.id, key: second } })
  t.match(await json(['keys', 'list']), { total: 1 })
  t.equal((await run([...remove, '--yes'])).code, 3)
})

t.test('keys add refuses a private key and does not print it', async t => {
  const secret = privateKeyFile('ed25519')
  const { code, stdout, stderr } = await run(['keys', 'add', '--user', 'ada', '--title', 'oops'], secret)
  t.equal(code, 2)
  t.match(stderr, /^gitstead: key is a private key: keep it secret, .*\n$/)
  t.notOk(`${stdout}${stderr}`.includes(secret.slice(100, 130)))
})

t.test('emails are added, listed and removed', async t => {
  const email = 'Ada@home.example.org'
  const made = await json<{ id: number }>(['emails', 'add', email, '--user', 'ada'])
  t.same(made, { id: made.id, email })
  t.same(await json(['emails', 'list', '--user', 'ada']), { emails: [made] }, 'without the primary address')
  t.equal((await run(['emails', 'list', '--user', 'ada'])).stdout, `ID  ADDRESS\n${made.id}   ${email}\n`)
  const remove = ['emails', 'remove', String(made.id)]
  t.same(await json([...remove, '--dry-run']), { would_delete: made })
  t.same(await json(['emails', 'list', '--user', 'ada']), { emails: [made] })
  t.same(await json([...remove, '--yes']), { deleted: made })
  t.equal((await run(['emails', 'list', '--user', 'ada'])).stdout, 'none\n')
})

t.test('each error is one line with its exit code', async t => {
  const taken = newKey()
  await json(['keys', 'add', '--user', 'bert', '--title', 'x'], taken)
  const token = (...flags: string[]) => ['tokens', 'create', '--user', 'ada', '--name', 'x', ...flags]
  const key = (...flags: string[]) => ['keys', 'add', '--user', 'ada', '--title', 'x', ...flags]
  const long = 'x'.repeat(256)
  const cases: [string[], number, RegExp, string?][] = [
    [
      token('--expires-in', '2h'),
      2,
      /--expires-in must be at least one day, because tokens expire at the start of a day/
    ],
    [token('--expires-in', '90'), 2, /--expires-in must be a duration such as/],
    [token('--expires-in', '90d', '--expires-at', '2999-01-01'), 2, /cannot also be provided/],
    [token('--expires-at', 'tomorrow'), 2, /--expires-at must be a day such as 2027-12-31 \(it is "tomorrow"\)/],
    [token('--expires-at', '2999-02-30'), 2, /expires_at is invalid/],
    [['tokens', 'create', '--user', 'ada', '--name', long], 2, /name is too long \(maximum is 255 characters\)/],
    [['tokens', 'create', '--user', 'nobody', '--name', 'x'], 3, /no user is called "nobody"/],
    [['tokens', 'list', '--user', 'nobody'], 3, /no user is called "nobody"/],
    [['tokens', 'revoke', '999999', '--yes'], 3, /no token has the number 999999/],
    [['tokens', 'revoke', 'backup'], 2, /expected a number of at least 1/],
    [['tokens', 'reset-private', 'nobody', '--yes'], 3, /no user is called "nobody"/],
    [key(), 4, /fingerprint has already been taken/, taken],
    [key(), 2, /the key is empty/, ' \n'],
    [key(), 2, /the key is longer than 65536 characters/, 'x'.repeat(70_000)],
    [key('--file', '/nowhere/id.pub'), 2, /--file \/nowhere\/id.pub cannot be read \(ENOENT\)/],
    [key('--file', '/'), 2, /--file \/ cannot be read \(EISDIR\)/],
    [['keys', 'add', '--user', 'nobody', '--title', 'x'], 3, /no user is called "nobody"/, newKey()],
    [['keys', 'add', '--user', 'ada', '--title', long], 2, /title is too long/, newKey()],
    [['keys', 'show', '999999'], 3, /no key has the number 999999/],
    [['emails', 'add', 'ada@example.org', '--user', 'bert'], 4, /email has already been taken/],
    [['emails', 'add', `${long}@b.cd`, '--user', 'ada'], 2, /email is too long/],
    [['emails', 'remove', '999999', '--yes'], 3, /no address has the number 999999/]
  ]
  for (let at = 0; at < cases.length; at += 4) {
    await Promise.all(
      cases.slice(at, at + 4).map(async ([args, expected, text, input]) => {
        const { code, stdout, stderr } = await run(args, input)
        t.equal(code, expected, args.join(' '))
        t.match(stderr, new RegExp(`^gitstead: [^\\n]*(${text.source})[^\\n]*\\n$`), args.join(' '))
        t.equal(stdout, '', args.join(' '))
      })
    )
  }
})

t.test('the audit records the commands, and hooks get the events of keys', async t => {
  const actions = await rows<{ action: string; via: string }>('select distinct action, via from audit_events')
  for (const action of ['token.create', 'token.revoke', 'token.reset', 'key.create', 'key.delete', 'email.create']) {
    t.ok(
      actions.some(event => event.action === action && event.via === 'command'),
      action
    )
  }
  t.equal((await waitingEvents('key.removed')).length, 1)
})
