// The file by which commands find their server.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readStatus } from '../../src/cli/appliance/read-status.js'
import { loadConfig } from '../../src/config.js'
import { forgetAddress, instance, noteAddress } from '../../src/server/instance.js'
import t from '../helpers/tap.js'

t.test('a full disk does not keep a server from starting', async t => {
  loadConfig({ home: t.testdir({ run: { 'server.json': t.fixture('symlink', '/dev/full') } }) })
  t.doesNotThrow(() => noteAddress(1))
})

t.test('the next server needs no more space for its note', async t => {
  const home = t.testdir({ run: {} })
  loadConfig({ home })
  noteAddress(1)
  const { ino, size } = statSync(join(home, 'run/server.json'))
  forgetAddress()
  t.same(JSON.parse(readFileSync(join(home, 'run/server.json'), 'utf8')), {})
  noteAddress(2)
  t.match(statSync(join(home, 'run/server.json')), { ino, size }, 'the file stays where it is')
  t.match(JSON.parse(readFileSync(join(home, 'run/server.json'), 'utf8')), { port: 2, instance })
})

t.test('on a full disk a server is found after a restart, and the appliance counts as degraded', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'gitstead-full-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=128k', 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    rmdirSync(folder)
    return t.pass('this machine allows no mount')
  }
  t.teardown(() => {
    execFileSync('umount', ['-l', folder])
    rmdirSync(folder)
  })
  mkdirSync(join(folder, 'run'))
  loadConfig({ home: folder, database: { url: null } })
  noteAddress(1)
  forgetAddress()
  t.throws(() => writeFileSync(join(folder, 'all'), Buffer.alloc(2 ** 20)), { code: 'ENOSPC' })
  noteAddress(7)
  t.match(JSON.parse(readFileSync(join(folder, 'run/server.json'), 'utf8')), { port: 7, instance })
  t.match(await readStatus(), { degraded: `the disk of ${folder} is full: reads work, writes fail` })
})
