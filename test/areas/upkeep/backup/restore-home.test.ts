// Restores into a new home: each starts a database server and commands. They belong to `npm run test:long`.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { type Manifest, readManifest, writeManifest } from '../../../../src/areas/upkeep/backup/manifest.js'
import { root } from '../../../../src/config.js'
import { execute } from '../../../../src/db/connect/sql.js'
import { RESTORE_DRAFT } from '../../../../src/home.js'
import { startOf } from '../../../../src/lib/process-status.js'
import { cli, cliProcess } from '../../../helpers/cli.js'
import { factory } from '../../../helpers/factory.js'
import { until } from '../../../helpers/until.js'
import { create, duplicate, environment, flip, manifestOf, unitOf, verify } from './subject.js'

t.test('a restore leaves out columns and tables that no migration makes, and verify names the columns', async t => {
  await execute('alter table users add column shoe_size int not null default 42')
  await execute('create table pets (id int primary key)')
  const backup = await create()
  await execute('alter table users drop column shoe_size')
  await execute('drop table pets')
  t.match(await verify(backup), {
    code: 0,
    ok: true,
    problems: [],
    notes: ['no migration makes the column users.shoe_size: a restore leaves it out']
  })
  rmSync(backup.path, { recursive: true })
})

t.test('a project that was removed during the backup is not in the restored home', async t => {
  const doomed = await factory.project()
  await factory.file(doomed, 'a', 'a\n')
  const backup = await create({ withSecrets: true })
  const manifest = manifestOf(backup)
  const units = manifest.units.filter(unit => unit.project?.id !== doomed.id)
  writeManifest(backup.path, { ...manifest, units, removed_projects: [doomed.id] })
  t.match(await verify(backup), { code: 0, ok: true, problems: [] })
  rmSync(backup.path, { recursive: true })
})

t.test('verify finds damage', async t => {
  const backup = await create()
  const folder = t.testdir()
  const { path, list } = unitOf(backup)
  const object = list.find(file => file.path.startsWith('objects/'))?.path ?? ''
  const cases: [string, (copy: string) => void, RegExp][] = [
    ['a byte', copy => flip(join(copy, path, object)), /has changed since it was written/],
    ['a missing file', copy => rmSync(join(copy, path, object)), /is missing/],
    [
      'a truncated file',
      copy => truncateSync(join(copy, path, 'packed-refs'), 10),
      /packed-refs has changed since it was written/
    ],
    ['a list', copy => appendFileSync(join(copy, `${path}.files`), '{}\n'), /\.files has changed since it was written/],
    ['rows', copy => flip(join(copy, 'database/users.jsonl.gz')), /users\.jsonl\.gz has changed since it was written/]
  ]
  for (const [name, harm, problem] of cases) {
    const copy = duplicate(backup, join(folder, name.replace(' ', '-')))
    harm(copy.path)
    const found = await verify(copy)
    t.equal(found.code, 1, name)
    t.match(found.problems[0], problem, name)
  }
  const copy = duplicate(backup, join(folder, 'manifest'))
  appendFileSync(join(copy.path, 'manifest.json'), ' ')
  const { code, stderr } = await cli(['backup', 'verify', copy.path], { environment })
  t.equal(code, 1)
  t.match(stderr, /manifest\.json has changed since it was written: use another backup/)
  t.equal((await cli(['backup', 'verify', join(folder, 'nothing')], { environment })).code, 3)
})

t.test('a backup of an older schema is restored and migrated', async t => {
  const copy = duplicate(await create({ withSecrets: true }), join(t.testdir(), 'old'))
  const manifest = readManifest(copy.path)
  // Tables to which no later migration adds a column: a backup of that version would not have it.
  const kept = new Set(['access_tokens', 'ref_changes'])
  const old: Manifest = {
    ...manifest,
    database: {
      ...manifest.database,
      migrations: manifest.database.migrations.filter(name => name < '0006'),
      tables: manifest.database.tables.filter(({ name }) => kept.has(name))
    }
  }
  writeManifest(copy.path, old)
  const into = join(t.testdirName, 'home')
  const { code, stderr } = await cli(['restore', copy.path, '--into', into], { environment })
  t.equal(code, 0, stderr)
  const states = await cli(['db', 'status', '--home', into, '--json'])
  t.match(states.json(), { migrations: manifest.database.migrations.map(name => ({ name, applied_at: String })) })
  t.equal((await cli(['backup', 'create', '--home', into])).code, 0, 'its tables exist')

  t.test('a backup of a newer version is refused', async t => {
    const migrations = [...manifest.database.migrations, '9999-future']
    writeManifest(copy.path, { ...manifest, database: { ...manifest.database, migrations } })
    const refused = await cli(['restore', copy.path, '--into', join(t.testdirName, 'x')], { environment })
    t.equal(refused.code, 1)
    t.match(refused.stderr, /is from a newer version of Gitstead \(it has 9999-future\)/)
  })
})

t.test('a killed restore can be run again, and no command mistakes its folder for a home', async t => {
  const backup = await create({ withSecrets: true })
  const restore = (into: string) => cliProcess(['restore', backup.path, '--into', into, '--json'], { environment })
  const dead = join(`${RESTORE_DRAFT}4000000-1`)
  const moments: [string, object][] = [
    ['while it filled the folder', { [dead]: { mysql: {}, repositories: {}, 'secrets.json': '{}' } }],
    [
      'while it moved the content up',
      {
        [dead]: { 'moving.json': '["mysql","repositories","secrets.json"]', 'secrets.json': '{}' },
        mysql: { ibdata1: '' },
        repositories: { old: '' }
      }
    ],
    ['after it failed', { 'restore-failed.log': 'x' }]
  ]
  for (const [moment, files] of moments) {
    const into = mkdtempSync(join(tmpdir(), 'gitstead-killed-'))
    t.teardown(() => rmSync(into, { recursive: true, force: true }))
    plant(into, files)
    if (!('restore-failed.log' in files)) {
      for (const command of [
        ['users', 'list'],
        ['up', '--port', '0'],
        ['db', 'migrate']
      ]) {
        const { code, stderr } = await cliProcess([...command, '--home', into])
        t.equal(code, 1, `${command.join(' ')} ${moment}`)
        t.match(stderr, /a restore into \S+ has not ended/)
      }
    }
    const { code, stderr } = await restore(into)
    t.equal(code, 0, `${moment}: ${stderr}`)
    t.equal((await cliProcess(['users', 'list', '--home', into])).code, 0)
    t.notOk(existsSync(join(into, 'repositories/old')) || existsSync(join(into, dead)))
    t.equal((await restore(into)).code, 4, 'a home is never overwritten')
  }

  t.test('files that others put there stay', async t => {
    const into = t.testdir({ [dead]: { 'moving.json': '["mysql"]' }, mysql: {}, 'notes.txt': 'mine' })
    t.equal((await restore(into)).code, 4)
    t.ok(existsSync(join(into, 'notes.txt')) && existsSync(join(into, 'mysql')))
  })

  t.test('a running restore is not disturbed', async t => {
    const into = t.testdir({ [`${RESTORE_DRAFT}${process.pid}-${startOf(process.pid)}`]: { mysql: {} } })
    const { code, stdout } = await restore(into)
    t.equal(code, 6)
    t.match(stdout, new RegExp(`process ${process.pid} restores into`))
  })
})

/** Creates files and folders, as `t.testdir` does. */
function plant(folder: string, files: object): void {
  for (const [name, content] of Object.entries(files) as [string, object | string][]) {
    const path = join(folder, name)
    if (typeof content === 'string') writeFileSync(path, content)
    else {
      mkdirSync(path)
      plant(path, content)
    }
  }
}

t.test('a signal ends a restore, and its folder is empty again', async t => {
  const backup = await create({ withSecrets: true })
  const into = mkdtempSync(join(tmpdir(), 'gitstead-ended-'))
  t.teardown(() => rmSync(into, { recursive: true, force: true }))
  const program = [join(root, 'bin/gitstead'), 'restore', backup.path, '--into', into]
  const child = spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, ...program], {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'ignore', 'pipe']
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', text => (said += text))
  const closed = once(child, 'close')
  await until('the restore begins', () => readdirSync(into).some(name => name.startsWith(RESTORE_DRAFT)))
  child.kill('SIGTERM')
  const [code] = await closed
  // It may have ended just before.
  if (code !== 0) t.equal(said, 'gitstead: ended by SIGTERM: nothing was kept\n')
  if (code !== 0) t.same(readdirSync(into), [])
})

t.test('a failed restore keeps the log that its error names', async t => {
  const backup = await create({ withSecrets: true })
  const folder = mkdtempSync(join(tmpdir(), 'gitstead-failed-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const into = join(folder, 'home')
  // A server that cannot create its tables, as on a full disk.
  const programs = join(folder, 'programs')
  mkdirSync(programs)
  writeFileSync(
    join(programs, 'mariadbd'),
    '#!/bin/sh\n[ "$2" = --version ] && exit 0\necho "[ERROR] no room" >&2\nexit 1\n',
    { mode: 0o755 }
  )
  const { code, stderr } = await cli(['restore', backup.path, '--into', into], {
    environment: { ...environment, PATH: `${programs}:${process.env.PATH}` }
  })
  t.equal(code, 1)
  const log = /see (\S+)/.exec(stderr)?.[1] ?? ''
  t.equal(log, join(into, 'restore-failed.log'))
  t.match(readFileSync(log, 'utf8'), /no room/)
  t.same(readdirSync(into), ['restore-failed.log'])
})
