// A database belongs to one key: a home with another one, or with none, is refused before it writes anything.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { requireKey, stateOfKey } from '../../../../src/areas/ground/settings/encryption-key.js'
import type { CheckResult } from '../../../../src/cli/doctor/check.js'
import { closeDatabase } from '../../../../src/db/connect/connection.js'
import { execute, row } from '../../../../src/db/connect/sql.js'
import { cli, cliProcess } from '../../../helpers/cli.js'
import { testDatabase } from '../../../helpers/database.js'
import { factory } from '../../../helpers/factory.js'
import { makeVariable } from '../../ci/variables/make-variables.js'

const { home, databaseUrl } = await testDatabase()
const fingerprint = async () =>
  (await row<{ it: Buffer | null }>('select key_fingerprint as it from application_settings where id = 1'))?.it

/** The home of another machine, with its own key or with none. */
function otherHome(t: Test, key?: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'gitstead-key-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const secrets = JSON.stringify({ database_password: 'x', encryption_key: key })
  if (key !== undefined) writeFileSync(join(folder, 'secrets.json'), secrets, { mode: 0o600 })
  return folder
}

const at = (folder: string) => ({
  environment: { GITSTEAD_HOME: folder, GITSTEAD_DATABASE_URL: databaseUrl, GITSTEAD_PORT: '0', GITSTEAD_SSH_PORT: '0' }
})
const OTHER_KEY = Buffer.alloc(32, 7).toString('base64')

t.test('the first start writes the fingerprint, which is not the key', async t => {
  const { encryption_key } = JSON.parse(readFileSync(join(home, 'secrets.json'), 'utf8')) as { encryption_key: string }
  const known = await fingerprint()
  t.equal(known?.length, 32)
  t.notOk(known?.equals(Buffer.from(encryption_key, 'base64')))
  t.equal(await stateOfKey(), 'right')
})

t.test('another key is refused in one line with the remedy', async t => {
  await factory.user({ username: 'ada' })
  const folder = otherHome(t, OTHER_KEY)
  const said = new RegExp(
    `^gitstead: ${folder}/secrets.json has another key than the database: put back the secrets.json of`
  )
  for (const command of [['server'], ['worker'], ['up'], ['db', 'migrate']]) {
    const { code, stderr } = await cliProcess(command, at(folder))
    t.equal(code, 1, command.join(' '))
    t.match(
      stderr.split('\n').find(line => line.startsWith('gitstead: ')),
      said,
      command.join(' ')
    )
  }
  t.match(await cli(['users', 'list'], at(folder)), { code: 1, stderr: said })
  const { checks } = (await cli(['doctor', '--json'], at(folder))).json() as unknown as { checks: CheckResult[] }
  t.match(
    checks.find(({ name }) => name === 'encryption_key'),
    { ok: false, found: /has another key than the database/, remedy: /^put back the secrets\.json/ }
  )
})

t.test('a machine without secrets.json gets no key of its own', async t => {
  const folder = otherHome(t)
  const missing = /secrets\.json is missing, but the database has users: put back/
  for (const command of [['server'], ['worker']]) {
    const { code, stderr } = await cliProcess(command, at(folder))
    t.equal(code, 1, command.join(' '))
    t.match(stderr, missing)
  }
  const made = [
    'users',
    'create',
    '--username',
    'eve',
    '--email',
    'eve@example.org',
    '--name',
    'Eve',
    '--password-stdin'
  ]
  t.match(await cli(made, { ...at(folder), input: 'a long password\n' }), { code: 1, stderr: missing })
  t.equal((await cli(['users', 'list'], at(folder))).code, 0, 'a command that needs no key works')
  const project = await factory.project()
  const set = ['variables', 'set', project.path, 'KEY']
  t.match(await cli(set, { ...at(folder), input: 'x' }), { code: 1, stderr: /secrets\.json is missing: put back/ })
  t.notOk(existsSync(join(folder, 'secrets.json')))
})

t.test('a database of an earlier version gets a key that decrypts some of its values', async t => {
  const known = await fingerprint()
  await execute('update application_settings set key_fingerprint = null')
  t.match(await cli(['users', 'list'], at(otherHome(t, OTHER_KEY))), { code: 1, stderr: /has another key/ })
  t.equal(await fingerprint(), null)
  await requireKey({ makes: true })
  t.same(await fingerprint(), known)
  // Machines with several keys have used it: the oldest token is of another one.
  await execute('update application_settings set key_fingerprint = null')
  const { id, encrypted } = (await row<{ id: number; encrypted: Buffer }>(
    'select id, encrypted from access_tokens where encrypted is not null order by id limit 1'
  )) ?? { id: 0, encrypted: Buffer.alloc(0) }
  await execute("update access_tokens set encrypted = 'of another key' where id = ?", [id])
  await requireKey({ makes: true })
  t.same(await fingerprint(), known)
  await execute('update access_tokens set encrypted = ? where id = ?', [encrypted, id])
})

t.test('a key can be accepted when the first one is lost for good', async t => {
  const known = await fingerprint()
  const folder = otherHome(t, OTHER_KEY)
  const accept = async (where: string, ...flags: string[]) => {
    // The command refuses while anything is connected.
    await closeDatabase()
    return cli(['db', 'accept-key', ...flags], at(where))
  }
  t.equal((await accept(folder)).code, 2, 'only after a confirmation')
  t.match((await accept(folder, '--dry-run', '--json')).json(), { accepted: true, dry_run: true })
  t.same(await fingerprint(), known)
  t.equal((await cli(['db', 'accept-key', '--yes'], at(folder))).code, 4, 'this process is connected')
  const { code, stdout } = await accept(folder, '--yes')
  t.equal(code, 0)
  t.match(stdout, /^accepted the key of this home\nit cannot decrypt [1-9]\d* values\n$/)
  t.notSame(await fingerprint(), known)
  t.match(await row('select action from audit_events order by id desc limit 1'), { action: 'key.accept' })
  t.equal((await cli(['users', 'list'], at(folder))).code, 0)
  t.match((await accept(folder, '--yes', '--json')).json(), { accepted: false })
  const empty = otherHome(t)
  t.match((await accept(empty, '--yes', '--json')).json(), { accepted: true })
  t.ok(existsSync(join(empty, 'secrets.json')))
  await execute('update application_settings set key_fingerprint = ?', [known ?? null])
})

t.test('a key of the wrong length is refused by name', async t => {
  t.match(await cli(['users', 'list'], at(otherHome(t, 'c2hvcnQ='))), {
    code: 1,
    stderr: /secrets\.json has no encryption_key of 32 bytes in base64: restore it from a backup/
  })
})

t.test('doctor --all finds the values that cannot be decrypted', async t => {
  const project = await factory.project()
  await makeVariable(project, 'OLD', 'x')
  await execute("update variables set value_encrypted = 'of another key' where name = 'OLD'")
  await makeVariable(project, 'NEW', 'x')
  const check = async (...flags: string[]) => {
    const { checks } = (await cli(['doctor', '--json', ...flags], at(home))).json() as unknown as {
      checks: CheckResult[]
    }
    return checks.find(({ name }) => name === 'encryption_key')
  }
  t.match(await check(), { ok: true })
  const { id } = (await row<{ id: number }>("select id from variables where name = 'OLD'")) ?? { id: 0 }
  t.match(await check('--all'), {
    ok: false,
    found: '1 encrypted value cannot be decrypted',
    details: [`variables.value_encrypted of row ${id}`]
  })
  await execute("delete from variables where name = 'OLD'")
  // Without --all, it looks only at the last 10,000 ids.
  const first = (await row<{ id: number }>('select min(id) as id from access_tokens'))?.id ?? 0
  const last = (await row<{ id: number }>('select max(id) as id from access_tokens'))?.id ?? 0
  await execute("update access_tokens set encrypted = if(id = ?, 'of another key', null)", [first])
  await execute('update access_tokens set id = ? where id = ?', [first + 9999, last])
  t.match(await check(), { ok: false, details: [`access_tokens.encrypted of row ${first}`] })
  await execute('update access_tokens set id = id + 1 where id = ?', [first + 9999])
  t.match(await check(), { ok: true })
})
