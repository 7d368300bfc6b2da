// Tests the commands for users, as scripts use them: with --json and exit codes.
import { spawn } from 'node:child_process'
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { beginSession, byPassword } from '../../src/areas/people/credentials/credentials.js'
import { signInByPassword } from '../../src/areas/people/credentials/password-sign-in.js'
import { createProject } from '../../src/areas/projects/projects/projects.js'
import { root } from '../../src/config.js'
import { execute, row, rows } from '../../src/db/connect/sql.js'
import { cli } from '../helpers/cli.js'
import { testDatabase } from '../helpers/database.js'
import { factory, originBy } from '../helpers/factory.js'
import t from '../helpers/tap.js'

t.test('users', async t => {
  const { databaseUrl, home: testHome } = await testDatabase()
  const home = join(t.testdir(), 'home')
  mkdirSync(home, { mode: 0o700 })
  copyFileSync(join(testHome, 'secrets.json'), join(home, 'secrets.json'))
  const environment = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl }
  const run = (args: string[], input?: string) => cli(['users', ...args], { environment, input })
  t.ok(testHome)
  const boss = await factory.admin({ username: 'boss' })
  const ada = await factory.user({ username: 'ada', email: 'ada@example.org' })

  t.test('list --dormant: only users without a sign-in, use of a token or use of git since then', async t => {
    const ago = (days: number) => new Date(Date.now() - days * 86_400_000)
    const make = async (username: string, signedIn: Date | null, used: Date | null) => {
      const { id } = await factory.user({ username })
      await execute('update users set created_at = ?, current_sign_in_at = ? where id = ?', [ago(400), signedIn, id])
      if (used) await execute('insert into user_uses (user_id, last_used_at) values (?, ?)', [id, used])
    }
    await make('dormant-never', null, null)
    await make('dormant-long', ago(200), ago(100))
    await make('awake-git', ago(200), ago(80))
    await make('awake-web', ago(10), null)
    const listed = async (...args: string[]) => {
      const { code, stderr, json } = await run(['list', '--dormant', '90d', '--json', ...args])
      t.equal(code, 0, stderr)
      return json() as unknown as { users: { username: string; last_used_at: string | null }[]; total: number }
    }
    for (const args of [[], ['--all']]) {
      const { users, total } = await listed(...args)
      t.equal(total, 2)
      t.match(users, [
        { username: 'dormant-long', last_used_at: /^20/ },
        { username: 'dormant-never', last_used_at: null }
      ])
    }
    t.equal((await run(['list', '--dormant', 'long'])).code, 2)
    for (const { username } of (await listed()).users) await run(['delete', username, '--yes'])
    for (const username of ['awake-git', 'awake-web']) await run(['delete', username, '--yes'])
  })

  t.test('create accepts every attribute', async t => {
    const { code, json } = await run(
      [
        'create',
        ...['--username', 'eve', '--email', 'eve@partner.example', '--name', 'Eve', '--external', '--bio', 'about'],
        ...['--no-can-create-group', '--projects-limit', '0', '--location', 'here', '--organization', 'o'],
        ...[
          '--website-url',
          'https://e.example',
          '--messenger',
          'm',
          '--professional-network',
          'p',
          '--microblog',
          'b'
        ],
        ...['--provider', 'ldap', '--extern-uid', 'cn=eve', '--password-stdin', '--json']
      ],
      'long enough\n'
    )
    t.equal(code, 0)
    t.match(json(), {
      username: 'eve',
      external: true,
      can_create_group: false,
      projects_limit: 0,
      bio: 'about',
      location: 'here',
      organization: 'o',
      website_url: 'https://e.example',
      messenger: 'm',
      professional_network: 'p',
      microblog: 'b',
      identities: [{ provider: 'ldap', extern_uid: 'cn=eve' }],
      private_token: /^[\w-]{20}$/
    })
  })

  t.test('list filters and pages', async t => {
    const names = async (...args: string[]) => {
      const { users, total } = (await run(['list', '--json', ...args])).json() as {
        users: { username: string }[]
        total: number
      }
      return { names: users.map(({ username }) => username), total }
    }
    t.same(await names(), { names: ['eve', 'ada', 'boss'], total: 3 })
    t.same(await names('--admins'), { names: ['boss'], total: 1 })
    t.same(await names('--external', '--search', 'PARTNER'), { names: ['eve'], total: 1 })
    t.same(await names('--per-page', '1', '--page', '2'), { names: ['ada'], total: 3 })
    const text = await run(['list', '--per-page', '1'])
    t.match(text.stdout, /^ID +USERNAME .*\n\d+ +eve .*\n$/)
    t.match(text.stderr, /^1 of 3 users: use --page or --all to see more\n$/)
    t.equal((await run(['list', '--active', '--blocked'])).code, 2)
  })

  t.test('show and set accept a username, a mail address or a number', async t => {
    const set = await run(['set', 'ada@example.org', '--name', 'Ada L.', '--admin', '--projects-limit', '5', '--json'])
    t.equal(set.code, 0)
    t.match(set.json(), { username: 'ada', name: 'Ada L.', is_admin: true, projects_limit: 5 })
    t.match((await run(['show', String(ada.id)])).stdout, /^name: Ada L\.\nusername: ada\n/)
    const [event] = await rows<{ via: string; changes: string }>(
      "select via, changes from audit_events where action = 'user.update'"
    )
    t.equal(event?.via, 'command')
    t.match(JSON.parse(event?.changes ?? ''), { admin: { before: false, after: true } })
    t.equal((await run(['set', 'ada', '--no-admin'])).code, 0)
  })

  t.test('each error is one line with its exit code', async t => {
    const cases: [string[], number, RegExp][] = [
      [['show', 'nobody'], 3, /^gitstead: no user is called "nobody"\n$/],
      [['set', 'nobody', '--bio', 'x'], 3, /^gitstead: no user is called "nobody"\n$/],
      [['set', 'ada'], 2, /^gitstead: specify at least one attribute to change.*\n$/],
      [['set', 'ada', '--username', 'BOSS'], 4, /^gitstead: Username has already been taken\n$/],
      [['set', 'ada', '--email', 'not one'], 2, /^gitstead: email is invalid\n$/],
      [['set', 'ada', '--bio', 'x'.repeat(256)], 2, /^gitstead: bio is too long.*\n$/],
      [['set', 'ada', '--provider', 'ldap'], 2, /^gitstead: .*--extern-uid.*\n$/],
      [['set', 'boss', '--no-admin'], 4, /^gitstead: the last active administrator cannot be demoted\n$/],
      [['block', 'boss'], 4, /^gitstead: .*the last active administrator cannot be blocked\n$/],
      [['passwd', 'ada'], 2, /^gitstead: give exactly one source of the password.*\n$/]
    ]
    for (const [args, code, stderr] of cases) {
      const result = await run(args)
      t.equal(result.code, code, args.join(' '))
      t.match(result.stderr, stderr, args.join(' '))
      t.equal(result.stdout, '')
    }
  })

  t.test('block, unblock and passwd', async t => {
    t.match((await run(['block', 'ada', '--json'])).json(), { username: 'ada', state: 'blocked' })
    t.equal((await run(['block', 'ada'])).stdout, 'user ada is already blocked\n')
    t.equal((await run(['unblock', 'ada'])).stdout, 'unblocked user ada\n')
    await beginSession(byPassword({ ...ada }), { address: '127.0.0.1', userAgent: 'test' })
    const result = await run(['passwd', 'ada', '--password-stdin'], 'quite another\n')
    t.equal(result.stdout, 'set the password of user ada\n')
    t.ok(await signInByPassword('ada', 'quite another', { address: 'test', door: 'api' }))
    t.same(await rows('select id from sessions where user_id = ?', [ada.id]), [])
  })

  t.test('delete --dry-run shows what would be deleted; delete refuses the last administrator', async t => {
    await createProject({ name: 'mine' }, originBy(ada))
    const dry = await run(['delete', 'ada', '--dry-run', '--json'])
    t.match(dry.json(), {
      would_delete: { username: 'ada' },
      goes: { projects: ['ada/mine'], keys: 0 },
      stays: { builds: 0 }
    })
    t.match(
      (await run(['delete', 'ada', '--dry-run'])).stdout,
      /^would delete user ada\nprojects: 1\n {2}ada\/mine\nkeys: 0\n/
    )
    t.equal((await run(['show', 'ada'])).code, 0)
    t.match((await run(['delete', 'ada', '--yes', '--json'])).json(), { deleted: { username: 'ada', id: ada.id } })
    t.equal((await run(['delete', 'ada', '--yes'])).code, 3)
    t.match((await run(['delete', 'boss', '--dry-run'])).stdout, /would be refused: .*last active administrator\n$/)
    t.equal((await run(['delete', 'boss', '--yes'])).code, 4)
    t.equal((await row<{ id: number }>('select id from users where id = ?', [boss.id]))?.id, boss.id)
  })

  const FILE = [
    'username,email,name,password,admin,projects_limit,provider,extern_uid',
    'one,one@example.org,"One, the first",long enough,yes,5,ad,uid-1',
    'two,two@example.org,Two,short,,,,',
    'three,nope,Three,long enough,,,,',
    '"four",four@example.org,"Four\nlines",long enough,,,,',
    'five,five@example.org,Five,long enough,maybe,,,',
    '',
    'six,six@example.org,Six,long enough,,-1,,',
    'BOSS,x@example.org,Seven,long enough,,,,',
    'One,eight@example.org,Eight,long enough,,,,',
    'nine,ONE@example.org,Nine,long enough,,,,',
    'ten,ten@example.org,Ten',
    'eleven,eleven@example.org,Eleven,long enough,,,ad,uid-1',
    'twelve,twelve@example.org,Twelve,long enough,,,ad,',
    'admin,thirteen@example.org,Thirteen,long enough,,,,',
    'last,last@example.org,Ünïcode 🦊,long enough,,,,'
  ]
  const REFUSED = [
    { line: 3, username: 'two', error: 'password is too short (minimum is 8 characters)' },
    { line: 4, username: 'three', error: 'email is invalid' },
    { line: 5, username: 'four', error: 'name is invalid' },
    { line: 7, username: 'five', error: 'admin is invalid' },
    { line: 9, username: 'six', error: 'projects_limit must be greater than or equal to 0' },
    { line: 10, username: 'BOSS', error: 'Username has already been taken' },
    { line: 11, username: 'One', error: 'Username has already been taken' },
    { line: 12, username: 'nine', error: 'Email has already been taken' },
    { line: 13, username: null, error: 'the line has 3 values instead of 8' },
    { line: 14, username: 'eleven', error: 'Extern uid has already been taken' },
    { line: 15, username: 'twelve', error: 'extern_uid, provider must be given together' },
    { line: 16, username: 'admin', error: 'username is reserved' }
  ].map(refusal => (refusal.line === 13 ? { ...refusal, username: null } : refusal))

  t.test('import creates users from the valid rows and reports the others', async t => {
    const file = join(t.testdir({ 'users.csv': `\ufeff${FILE.join('\r\n')}\r\n` }), 'users.csv')
    const dry = await run(['import', file, '--dry-run', '--json'])
    t.equal(dry.code, 1)
    t.same(dry.json(), { would_create: 2, refused: REFUSED })
    t.equal((await run(['show', 'one'])).code, 3, 'a dry run writes nothing')
    const real = await run(['import', file, '--json'])
    t.equal(real.code, 1)
    t.same(real.json(), { created: 2, refused: REFUSED })
    t.equal(real.stderr, '')
    t.match((await run(['show', 'one', '--json'])).json(), {
      name: 'One, the first',
      is_admin: true,
      projects_limit: 5,
      identities: [{ provider: 'ad', extern_uid: 'uid-1' }]
    })
    t.match((await run(['show', 'last', '--json'])).json(), { name: 'Ünïcode 🦊', can_create_group: true })
    t.ok(await signInByPassword('one', 'long enough', { address: 'test', door: 'api' }))
    const made = await rows(
      "select id from audit_events where action = 'user.create' and target_name in ('one', 'last')"
    )
    t.equal(made.length, 2)
    const text = await run(['import', file])
    t.equal(text.stdout, 'created 0 users, refused 14\n')
    t.match(text.stderr, /^line 2: one: Email has already been taken\nline 3: two: password is too short/)
  })

  t.test('import --update changes existing users, and a second import changes nothing', async t => {
    const made = await run(
      ['import', '-', '--json'],
      'username,email,name\nupa,upa@example.org,A\nupb,upb@example.org,B\n'
    )
    t.same(made.json(), { created: 2, refused: [] })
    await run(['passwd', 'upa', '--password-stdin'], 'their own secret\n')
    const input = [
      'username,email,name,password,admin,projects_limit',
      'UPA,upa@example.org,Another A,long enough,,7',
      'upb,upa@example.org,B,,,',
      'upc,upc@example.org,C,long enough,,',
      'upb,upb@example.org,B,,maybe,',
      ''
    ].join('\n')
    const refused = [
      { line: 3, username: 'upb', error: 'Email has already been taken' },
      { line: 5, username: 'upb', error: 'admin is invalid' }
    ]
    t.same((await run(['import', '-', '--update', '--dry-run', '--json'], input)).json(), {
      would_create: 1,
      would_update: 1,
      refused
    })
    const first = await run(['import', '-', '--update', '--json'], input)
    t.equal(first.code, 1)
    t.same(first.json(), { created: 1, updated: 1, unchanged: 0, refused })
    t.match((await run(['show', 'UPA', '--json'])).json(), { name: 'Another A', projects_limit: 7, is_admin: false })
    t.ok(await signInByPassword('upa', 'their own secret', { address: 'test', door: 'api' }), 'the password stays')
    const again = await run(['import', '-', '--update', '--json'], input)
    t.same(again.json(), { created: 0, updated: 0, unchanged: 2, refused })
    const said = await run(['import', '-', '--update'], input)
    t.equal(said.stdout, 'created 0 users, updated 0, left 2 unchanged, refused 2\nnothing has changed\n')
  })

  t.test('import without passwords, from standard input, of more than one batch', async t => {
    const lines = Array.from({ length: 250 }, (_, at) => `many-${at},many-${at}@example.org,Many ${at}`)
    const input = ['username,email,name', ...lines, ''].join('\n')
    const { code, json, stderr } = await run(['import', '-', '--json'], input)
    t.equal(code, 0, stderr)
    t.same(json(), { created: 250, refused: [] })
    const found = await row<{ users: number; hashes: number; namespaces: number; tokens: number; told: number }>(
      `select count(*) as users, count(distinct u.password_hash) as hashes, count(n.id) as namespaces,
         count(a.id) as tokens,
         (select count(*) from jobs where name = 'event.published' and payload like '%"username":"many-%') as told
       from users u left join namespaces n on n.owner_id = u.id and n.path = u.username
       left join access_tokens a on a.user_id = u.id and a.kind = 'private' where u.username like 'many-%'`
    )
    t.same(found, { users: 250, hashes: 250, namespaces: 250, tokens: 250, told: 250 })
  })

  t.test('import with mail, and users whose address is confirmed by a command', async t => {
    const { code } = await run(['import', '-', '--mail'], 'username,email,name\nmailed,mailed@example.org,M\n')
    t.equal(code, 0)
    const told = await rows<{ payload: string }>(
      `select payload from jobs where name = 'event.published' and payload like '%"kind":"user.created"%'`
    )
    const mails = told.map(({ payload }) => JSON.parse(payload).event)
    const mailTo = (name: string) => mails.find(({ user }) => user.username === name)
    t.same([mailTo('mailed')?.mail, mailTo('many-1')?.mail], ['welcome', undefined])
    const { id, username } = await factory.user({ confirm: false })
    const now = new Date()
    await execute('insert into emails (user_id, email, created_at) values (?, ?, ?)', [id, 'other@example.org', now])
    const primary = `${username}@example.org`
    const one = await run(['confirm', username, '--email', 'OTHER@example.org'])
    t.equal(one.stdout, `confirmed other@example.org of user ${username}\n`)
    t.match(await row('select confirmed_at, email_confirmed_at from users where id = ?', [id]), { confirmed_at: null })
    t.same((await run(['confirm', primary, '--json'])).json(), { username, confirmed: [primary] })
    t.match(await row('select confirmed_at, email_confirmed_at from users where id = ?', [id]), {
      confirmed_at: Date,
      email_confirmed_at: Date
    })
    t.equal((await run(['confirm', username])).stdout, `user ${username} has no unconfirmed address\n`)
    t.equal((await run(['confirm', 'nobody-at-all'])).code, 3)
    const audited = await rows("select id from audit_events where action = 'email.confirm' and target_name = ?", [
      username
    ])
    t.equal(audited.length, 2)
  })

  t.test('delete --keep-contributions shows what the ghost would get, and deletes', async t => {
    const { id, username } = await factory.user()
    const dry = await run(['delete', username, '--keep-contributions', '--dry-run'])
    t.match(dry.stdout, /\nwould be given to the ghost user:\n/)
    t.match((await run(['delete', username, '--keep-contributions', '--dry-run', '--json'])).json(), {
      given: { issues: 0, notes: 0, merge_requests: 0, snippets: 0 }
    })
    const done = await run(['delete', username, '--keep-contributions', '--yes'])
    t.equal(done.stdout, `deleted user ${username} (id ${id})\n`)
    t.equal((await run(['show', username])).code, 3)
  })

  t.test('users who wait for approval are listed, approved and rejected', async t => {
    const [yes, no] = [await factory.user(), await factory.user()]
    await execute("update users set state = 'blocked', block_reason = 'pending approval' where id in (?, ?)", [
      yes.id,
      no.id
    ])
    const listed = await run(['list', '--pending'])
    t.match(listed.stdout, new RegExp(`${yes.email} +blocked: pending approval`))
    t.match((await run(['list', '--pending', '--json'])).json(), {
      users: [
        { username: no.username, block_reason: 'pending approval', state: 'blocked' },
        { username: yes.username }
      ],
      total: 2
    })
    t.equal((await run(['approve', yes.username])).stdout, `approved user ${yes.username}\n`)
    const again = await run(['approve', yes.username])
    t.match([again.code, again.stderr], [4, 'does not wait for approval'])
    t.equal((await run(['reject', yes.username, '--yes'])).code, 4, 'an approved user stays')
    t.equal((await run(['reject', no.username])).code, 2, 'it asks first')
    t.match((await run(['reject', no.username, '--dry-run', '--json'])).json(), { would_delete: { id: no.id } })
    t.equal((await run(['reject', no.username, '--yes'])).stdout, `rejected user ${no.username}\n`)
    t.equal((await run(['show', no.username])).code, 3)
  })

  t.test('import keeps the users before a line that makes the rest of the file unreadable', async t => {
    const input = 'username,email,name\nbefore,before@example.org,B\nq,"q@example.org,Q\nr,r@example.org,R\n'
    const { code, json } = await run(['import', '-', '--json'], input)
    t.equal(code, 1)
    t.same(json(), {
      created: 1,
      refused: [{ line: 3, username: null, error: 'a quote is not closed: the rest of the file is skipped' }]
    })
  })

  t.test('import refuses a wrong file before it writes anything', async t => {
    const folder = t.testdir({ 'latin.csv': Buffer.from('username,email,name\nl,l@example.org,J\xf6rg\n', 'latin1') })
    const latin = await run(['import', join(folder, 'latin.csv'), '--json'])
    t.same(latin.json().refused, [{ line: 2, username: 'l', error: 'the line is not UTF-8' }])
    const cases: [string, string | undefined, RegExp][] = [
      [
        '-',
        'username,email,name,shoe_size\na,a@example.org,A,42\n',
        /^gitstead: standard input has an unknown column shoe_size: the known columns are /
      ],
      ['-', 'username,email\n', /has no column name\n$/],
      ['-', 'username,email,name,email\n', /has the column email twice\n$/],
      ['-', '', /has no header row\n$/],
      ['/nowhere.csv', undefined, /^gitstead: \/nowhere\.csv cannot be read \(ENOENT\)\n$/],
      [folder, undefined, /cannot be read \(EISDIR\)\n$/]
    ]
    for (const [file, input, stderr] of cases) {
      const result = await run(['import', file], input)
      t.equal(result.code, 2, String(stderr))
      t.match(result.stderr, stderr)
      t.equal(result.stderr.split('\n').length, 2, 'one line')
    }
    t.equal((await run(['show', 'a'])).code, 3)
  })

  t.test('list ends without an error when its reader leaves early', async t => {
    const { PATH } = process.env
    const args = ['-u', 'NODE_OPTIONS', process.execPath, join(root, 'bin/gitstead'), 'users', 'list', '--json']
    const child = spawn('env', args, { env: { PATH, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] })
    let complaint = ''
    child.stderr.on('data', chunk => (complaint += String(chunk)))
    child.stdout.destroy()
    const code = await new Promise(resolve => child.once('close', resolve))
    t.same({ code, complaint }, { code: 0, complaint: '' })
  })

  t.test('import continues when the reader of its messages leaves early', async t => {
    const lines = Array.from({ length: 400 }, (_, at) => `bad-${at},nope,Bad`)
    const input = ['username,email,name', ...lines, 'good,good@example.org,Good', ''].join('\n')
    const { PATH } = process.env
    const child = spawn(
      'env',
      ['-u', 'NODE_OPTIONS', process.execPath, join(root, 'bin/gitstead'), 'users', 'import', '-'],
      {
        env: { PATH, ...environment },
        stdio: ['pipe', 'ignore', 'pipe']
      }
    )
    child.stderr.destroy()
    child.stdin.end(input)
    const code = await new Promise(resolve => child.once('close', resolve))
    t.equal(code, 1)
    t.equal((await run(['show', 'good'])).code, 0)
  })
})
