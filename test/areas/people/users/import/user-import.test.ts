// The import of users with their keys: by identity or username, idempotent, and each line as a whole or not at all.
import { actorOf, originOf } from '../../../../../src/access/actor.js'
import { importUsers, type Refusal } from '../../../../../src/areas/people/users/import/user-import.js'
import { addKey } from '../../../../../src/areas/people/users/keys.js'
import { row, rows } from '../../../../../src/db/connect/sql.js'
import { testApp } from '../../../../helpers/app.js'
import { mailbox } from '../../../../helpers/mails.js'
import { newKey } from '../../../../helpers/ssh-keys.js'
import t from '../../../../helpers/tap.js'

const app = await testApp(t)
const mails = mailbox()
const root = await app.make.admin()
const origin = originOf(actorOf({ ...root }, 'private'), '127.0.0.1')

async function bring(lines: readonly Record<string, string>[], { dryRun = false } = {}) {
  const refused: Refusal[] = []
  const counts = { created: 0, updated: 0, unchanged: 0 }
  await importUsers(
    (async function* () {
      for (const [at, values] of lines.entries()) yield { line: at + 2, values }
    })(),
    {
      dryRun,
      update: true,
      refuse: refusal => refused.push(refusal),
      created: count => (counts.created += count),
      updated: changed => (counts[changed ? 'updated' : 'unchanged'] += 1)
    },
    origin
  )
  return { ...counts, refused: refused.map(({ line, error }) => `${line}: ${error}`) }
}
const line = (username: string, more: Record<string, string> = {}) => ({
  username,
  email: `${username}@example.org`,
  name: `Name of ${username}`,
  ...more
})
const keysOf = async (username: string) =>
  (
    await rows<{ title: string }>(
      'select k.title from ssh_keys k join users u on u.id = k.user_id where u.username = ? order by k.id',
      [username]
    )
  ).map(({ title }) => title)
const events = async () => Number((await row<{ total: number }>('select count(*) as total from audit_events'))?.total)
const keyOf = (comment: string) => `${newKey().split(' ').slice(0, 2).join(' ')} ${comment}`

t.test('users get their keys, and a second import of the same file changes nothing', async t => {
  await mails()
  const lines = [
    line('key-a', { ssh_keys: `${keyOf('a@laptop')}\n${keyOf('a@desk top')};\n`, provider: 'ad', extern_uid: 'uid=a' }),
    line('key-b', { ssh_keys: newKey() }),
    line('key-c', { ssh_keys: '' })
  ]
  t.same(await bring(lines, { dryRun: true }), { created: 3, updated: 0, unchanged: 0, refused: [] })
  t.same(await keysOf('key-a'), [], 'a dry run writes nothing')
  t.same(await bring(lines), { created: 3, updated: 0, unchanged: 0, refused: [] })
  t.same(await keysOf('key-a'), ['a@laptop', 'a@desk top'])
  t.equal((await keysOf('key-b')).length, 1)
  t.same(await mails(), [], 'new users get no mail about their keys')
  const before = await events()
  t.same(await bring(lines), { created: 0, updated: 0, unchanged: 3, refused: [] })
  t.equal(await events(), before, 'nothing is written')

  const more = [line('key-a', { ssh_keys: keyOf('a@new') }), line('key-b')]
  t.same(await bring(more), { created: 0, updated: 1, unchanged: 1, refused: [] })
  t.same(await keysOf('key-a'), ['a@laptop', 'a@desk top', 'a@new'], 'keys that the file does not have stay')
  t.match(await mails(), [{ to: 'key-a@example.org', subject: /SSH key was added/ }])
})

t.test('an identity finds the user whose name has changed', async t => {
  const who = { provider: 'ad', extern_uid: 'uid=renamed' }
  await bring([line('name-old', who), line('name-other')])
  const { id } = (await row<{ id: number }>("select id from users where username = 'name-old'")) ?? {}
  t.same(await bring([line('name-new', who)]), { created: 0, updated: 1, unchanged: 0, refused: [] })
  t.match(await row('select username, email from users where id = ?', [id ?? 0]), {
    username: 'name-new',
    email: 'name-new@example.org'
  })
  t.same((await bring([line('name-other', who)])).refused, ['2: the username belongs to another user than extern_uid'])
  t.same((await bring([line('name-new', who), line('name-new')])).refused, ['3: Email has already been taken'])
})

t.test('a line is written as a whole or not at all', async t => {
  const owner = await app.make.user()
  const held = newKey()
  await addKey(owner, { title: 'held', key: held }, origin)
  await bring([line('whole-a')])
  const fresh = newKey()
  const refused = [
    line('whole-a', { name: 'Changed', ssh_keys: `${newKey()}\n${held}` }),
    line('whole-b', { ssh_keys: held }),
    line('whole-c', { ssh_keys: 'ssh-ed25519 nonsense' }),
    line('whole-d', { ssh_keys: `${newKey()};-----BEGIN OPENSSH PRIVATE KEY-----` }),
    line('whole-e', { ssh_keys: Array.from({ length: 21 }, () => newKey()).join('\n') }),
    line('whole-f', { ssh_keys: fresh }),
    line('whole-g', { ssh_keys: fresh }),
    line('whole-a', { admin: 'perhaps' })
  ]
  for (const dryRun of [true, false]) {
    t.match(await bring(refused, { dryRun }), {
      created: 1,
      refused: [
        /^2: ssh_keys SHA256:\S+ belongs to another user$/,
        /^3: ssh_keys SHA256:\S+ belongs to another user$/,
        /^4: ssh_keys key 1 cannot be read/,
        /^5: ssh_keys key 2 is a private key/,
        '6: ssh_keys has more than 20 keys',
        /^8: ssh_keys SHA256:\S+ stands in line 7, too$/,
        '9: admin is invalid'
      ]
    })
  }
  t.match(await row("select name from users where username = 'whole-a'"), { name: 'Name of whole-a' })
  t.same(await keysOf('whole-a'), [])
  t.same(await rows("select username from users where username like 'whole-%' order by id"), [
    { username: 'whole-a' },
    { username: 'whole-f' }
  ])
})
