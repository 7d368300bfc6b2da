// Tests the commands for settings and broadcast messages, as scripts use them.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { execute, row } from '../../src/db/connect/sql.js'
import { testApp } from '../helpers/app.js'
import { cli } from '../helpers/cli.js'
import { testDatabase } from '../helpers/database.js'
import t from '../helpers/tap.js'

const { home, databaseUrl } = await testDatabase()
mkdirSync(home, { recursive: true, mode: 0o700 })
const environment = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl }
const run = (args: string[], input?: string) => cli(args, { environment, input })
const json = async (args: string[], input?: string): Promise<Record<string, unknown>> => {
  const result = await run([...args, '--json'], input)
  return { code: result.code, ...result.json() }
}
const stored = async () =>
  JSON.parse((await row<{ changed: string }>('select changed from application_settings'))?.changed ?? '')
const audited = async (action: string) =>
  (await row<{ count: number }>('select count(*) as count from audit_events where action = ?', [action]))?.count

interface Setting {
  name: string
  value: unknown
  default: unknown
  changed: boolean
}

t.test('settings', async t => {
  t.beforeEach(() => execute("update application_settings set changed = '{}'"))

  t.test('set changes one setting, and get prints it', async t => {
    const { code, stdout } = await run(['settings', 'set', 'sign_in_text', 'a=b, c'])
    t.equal(code, 0)
    t.equal(stdout, 'sign_in_text: null -> "a=b, c"\n')
    t.equal((await run(['settings', 'get', 'sign_in_text'])).stdout, 'a=b, c\n')
    t.match(await json(['settings', 'get', 'sign_in_text']), {
      code: 0,
      name: 'sign_in_text',
      value: 'a=b, c',
      default: null,
      changed: true,
      enforced: /sign-in page/
    })
    t.equal((await run(['settings', 'get', 'restricted_visibility_levels'])).stdout, 'null\n')
  })

  t.test('set accepts a value of each type', async t => {
    const args = [
      'default_projects_limit=0',
      'signup_enabled=no',
      'restricted_visibility_levels=1,2',
      'domain_whitelist=a.example, *.b.example',
      'domain_blacklist=["x.example"]',
      'disabled_oauth_sign_in_sources=',
      'enabled_git_access_protocol=http',
      'home_page_url=https://example.org/?a=b'
    ]
    t.match(await json(['settings', 'set', ...args]), {
      code: 0,
      id: 1,
      default_projects_limit: 0,
      signup_enabled: false,
      restricted_visibility_levels: [1, 2],
      domain_whitelist: ['a.example', '*.b.example'],
      domain_blacklist: ['x.example'],
      disabled_oauth_sign_in_sources: [],
      enabled_git_access_protocol: 'http',
      home_page_url: 'https://example.org/?a=b'
    })
    await run(['settings', 'set', 'enabled_git_access_protocol=nil', 'home_page_url=null', 'signup_enabled=true'])
    t.same(Object.keys(await stored()), [
      'default_projects_limit',
      'restricted_visibility_levels',
      'domain_whitelist',
      'domain_blacklist'
    ])
    t.equal((await run(['settings', 'set', 'signup_enabled', 'true'])).stdout, 'nothing changed\n')
  })

  t.test('list shows all settings, or only those that were changed', async t => {
    await run(['settings', 'set', 'max_attachment_size', '20'])
    const { settings } = (await json(['settings', 'list'])) as unknown as { settings: Setting[] }
    t.equal(settings.length, 27)
    t.same(
      settings.filter(({ changed }) => changed).map(({ name, value, default: usual }) => [name, value, usual]),
      [['max_attachment_size', 20, 10]]
    )
    t.match((await run(['settings', 'list', '--changed'])).stdout, /^SETTING .*\nmax_attachment_size +20 +10 +yes\n$/)
  })

  t.test('the exit code of diff is 0 when nothing differs, otherwise 1', async t => {
    t.match(await run(['settings', 'diff']), { code: 0, stdout: '' })
    await run(['settings', 'set', 'max_attachment_size', '20'])
    t.match(await run(['settings', 'diff']), { code: 1, stdout: 'max_attachment_size: 10 -> 20\n' })
    t.same(await json(['settings', 'diff']), { code: 1, changes: [{ name: 'max_attachment_size', from: 10, to: 20 }] })
    const same = 'max_attachment_size: 20\n'
    t.match(await run(['settings', 'diff', '-f', '-'], same), { code: 0, stdout: '' })
    const other = 'max_attachment_size: 30\ndefault_projects_limit: 10\n'
    t.same(await json(['settings', 'diff', '--file', '-'], other), {
      code: 1,
      changes: [{ name: 'max_attachment_size', from: 20, to: 30 }]
    })
    t.same(await stored(), { max_attachment_size: 20 }, 'diff changes nothing')
  })

  t.test('apply sets the values from a file; a second run changes nothing', async t => {
    const text = [
      'default_projects_limit: 25',
      'sign_in_text: |',
      '  two',
      '  lines',
      'ide_enabled: true',
      'ide_url: https://ide.example.org',
      'domain_whitelist: &d [example.org]',
      'domain_blacklist: *d'
    ]
    const file = join(t.testdir({ 'settings.yaml': text.join('\n') }), 'settings.yaml')
    const before = await audited('settings.update')
    const dry = await json(['settings', 'apply', '-f', file, '--dry-run'])
    t.match(dry, { code: 0, dry_run: true })
    t.same(await stored(), {}, 'a dry run changes nothing')
    t.equal(await audited('settings.update'), before)
    t.match(await json(['settings', 'apply', '-f', file]), { code: 0, dry_run: false, changes: dry.changes as object })
    const wanted = {
      default_projects_limit: 25,
      sign_in_text: 'two\nlines\n',
      ide_enabled: true,
      ide_url: 'https://ide.example.org',
      domain_whitelist: ['example.org'],
      domain_blacklist: ['example.org']
    }
    t.same(await stored(), wanted)
    const again = await run(['settings', 'apply', '-f', file])
    t.match(again, { code: 0, stdout: 'nothing to change\n' })
    t.equal(await audited('settings.update'), Number(before) + 1)
    await run(['settings', 'apply', '-f', '-'], 'sign_in_text: null\n')
    t.equal((await stored()).sign_in_text, undefined)
  })

  t.test('apply refuses a file with one error and names the line', async t => {
    const cases: [string, string][] = [
      ['max_attachment_size: 5\nnope: 1\n', '-:2: nope is not a setting: see gitstead settings list'],
      ['max_attachment_size: 5\nide_enabled: true', 'ide_url is missing'],
      [`sign_in_text: ${'x'.repeat(262_144)}`, '--file - is larger than 262144 bytes']
    ]
    for (const [text, expected] of cases) {
      const { code, stderr, stdout } = await run(['settings', 'apply', '-f', '-'], text)
      t.equal(code, 2)
      t.equal(stdout, '')
      t.equal(stderr, `gitstead: ${expected}\n`)
    }
    t.same(await stored(), {})
  })

  t.test('an error is one line: exit code 2, or 3 for an unknown name', async t => {
    const cases: [string[], number, string][] = [
      [['set', 'max_attachment_size=5', 'nope=1'], 2, 'nope is not a setting: see gitstead settings list'],
      [['set', 'signup_enabled'], 2, 'write settings as NAME=VALUE, or one setting as NAME VALUE (not signup_enabled)'],
      [['set', 'repository_storages', 'elsewhere'], 2, "repository_storages can't include: elsewhere"],
      [['get', 'nope'], 3, 'no setting is called "nope"'],
      [['get', '__proto__'], 3, 'no setting is called "__proto__"'],
      [['apply', '-f', '/nowhere.yaml'], 2, '--file /nowhere.yaml cannot be read (ENOENT)'],
      [['diff', '-f', home], 2, `--file ${home} cannot be read (EISDIR)`]
    ]
    for (const [args, expected, line] of cases) {
      const { code, stderr } = await run(['settings', ...args])
      t.equal(code, expected, args.join(' '))
      t.equal(stderr, `gitstead: ${line}\n`)
    }
    t.same(await stored(), {})
  })

  t.test('a running server uses the change at its next request', async t => {
    const app = await testApp(t)
    const { username, password } = await app.make.user()
    const signIn = async () => (await app.nobody.post('/session', { login: username, password })).statusCode
    t.equal(await signIn(), 201)
    await run(['settings', 'set', 'signin_enabled', 'false'])
    t.equal(await signIn(), 403)
    await run(['settings', 'set', 'signin_enabled', 'true'])
    t.equal(await signIn(), 201)
  })

  t.test('the help of set lists every setting', async t => {
    const { stdout } = await run(['settings', 'set', '--help'])
    const { settings } = (await json(['settings', 'list'])) as unknown as { settings: Setting[] }
    for (const { name } of settings) t.match(stdout, `${name}: `)
  })
})

t.test('broadcasts', async t => {
  t.test('create, list, show, update, delete', async t => {
    const made = await json(['broadcasts', 'create', 'Down at <noon>', '--ends-in', '2h', '--color', '#123'])
    t.match(made, { code: 0, message: 'Down at <noon>', color: '#123', font: '#FFFFFF', active: true })
    t.equal(Date.parse(String(made.ends_at)) - Date.parse(String(made.starts_at)), 7_200_000)
    const later = await json(['broadcasts', 'create', 'Later', '--starts-at', '2100-01-01T12:00+02:00'])
    t.match(later, { starts_at: '2100-01-01T10:00:00.000Z', ends_at: '2100-01-01T11:00:00.000Z', active: false })
    const from = await json([
      'broadcasts',
      'create',
      'X',
      '--starts-at',
      '2100-01-01',
      '--ends-in',
      '30m',
      '--font',
      ''
    ])
    t.match(from, { ends_at: '2100-01-01T00:30:00.000Z', font: '' })
    const ids = async (args: string[]) => {
      const { broadcasts, total } = (await json(['broadcasts', 'list', ...args])) as unknown as {
        broadcasts: { id: number }[]
        total: number
      }
      return { ids: broadcasts.map(({ id }) => id), total }
    }
    t.same(await ids([]), { ids: [made.id, later.id, from.id], total: 3 })
    t.same(await ids(['--active']), { ids: [made.id], total: 1 })
    t.same(await ids(['--limit', '2', '--page', '2']), { ids: [from.id], total: 3 })
    const id = String(made.id)
    const { code: _, ...record } = made
    t.same(await json(['broadcasts', 'show', id]), { code: 0, ...record })
    t.match((await run(['broadcasts', 'show', id])).stdout, /^ID +ACTIVE .*\n\d+ +yes .*Down at <noon>\n$/)
    t.match(await json(['broadcasts', 'update', id, '--message', 'Up', '--ends-at', '2020-01-01']), {
      code: 0,
      message: 'Up',
      ends_at: '2020-01-01T00:00:00.000Z',
      starts_at: made.starts_at as string,
      active: false
    })
    t.match(await json(['broadcasts', 'delete', id, '--dry-run']), { would_delete: { message: 'Up' } })
    t.equal((await ids([])).total, 3)
    t.match(await json(['broadcasts', 'delete', id, '--yes']), { code: 0, deleted: { id: made.id, message: 'Up' } })
    t.equal((await ids([])).total, 2)
    t.equal(await audited('broadcast.delete'), 1)
  })

  t.test('a message cannot move the cursor of a terminal', async t => {
    await run(['broadcasts', 'create', 'a\u001b[2Jb'])
    t.match((await run(['broadcasts', 'list'])).stdout, 'a?[2Jb')
  })

  t.test('each error is one line', async t => {
    const cases: [string[], number, RegExp][] = [
      [['create'], 2, /Missing 1 required arg/],
      [['create', ''], 2, /^message can't be blank$/],
      [['create', 'x', '--color', 'red'], 2, /^color must be a valid color code$/],
      [['create', 'x', '--ends-in', '2'], 2, /^--ends-in must be a duration such as 30m, 2h or 90d \(it is "2"\)$/],
      [['create', 'x', '--starts-at', 'noon'], 2, /^--starts-at must be a date such as .* \(it is "noon"\)$/],
      [['create', 'x', '--ends-at', '2030-02-30'], 2, /^--ends-at must be a date/],
      [['create', 'x', '--ends-at', '2030-01-01', '--ends-in', '2h'], 2, /cannot also be provided/],
      [['show', '4711'], 3, /^no broadcast message has the number 4711$/],
      [['update', '4711', '--message', 'x'], 3, /^no broadcast message has the number 4711$/],
      [['update', '4711'], 2, /^specify at least one change/],
      [['delete', '4711', '--dry-run'], 3, /^no broadcast message has the number 4711$/],
      [['delete', 'first'], 2, /^expected a number of at least 1/]
    ]
    for (const [args, expected, line] of cases) {
      const { code, stderr, stdout } = await run(['broadcasts', ...args])
      t.equal(code, expected, args.join(' '))
      t.match(stderr.replace(/^gitstead: (.*)\n$/, '$1'), line)
      t.equal(stdout, '')
    }
  })
})
