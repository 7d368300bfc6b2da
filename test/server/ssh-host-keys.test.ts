// A host key that cannot be used stops only git over SSH, and is named. Backups keep the keys with the secrets.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { checkHostKeys, ensureHostKeys } from '../../src/areas/projects/ssh/host-keys.js'
import { createBackup } from '../../src/areas/upkeep/backup/create.js'
import { sshCheck } from '../../src/cli/doctor/ssh.js'
import { hostKeyPaths, prepareHome } from '../../src/home.js'
import { startSsh } from '../../src/server/ssh/start.js'
import { startServer } from '../../src/server/start.js'
import { cli } from '../helpers/cli.js'
import { testDatabase } from '../helpers/database.js'
import { someOrigin } from '../helpers/factory.js'

const { home } = await testDatabase()
prepareHome()
const [first = '', second = ''] = hostKeyPaths()
const context = { all: false, serverUp: false, now: new Date(), serverUrl: 'http://127.0.0.1:1' }

t.test('an empty, foreign or unreadable key is named, and HTTP still answers', async t => {
  ensureHostKeys()
  const whole = readFileSync(first)
  for (const [content, said] of [
    ['', /ssh_host_ed25519_key is empty: put back the key from a backup, or remove the file/],
    ['ssh-ed25519 AAAA', /ssh_host_ed25519_key is not a private key without a passphrase/],
    [null, /ssh_host_ed25519_key cannot be read \(EISDIR\)/]
  ] as const) {
    rmSync(first, { recursive: true })
    if (content === null) mkdirSync(first, { mode: 0o700 })
    else writeFileSync(first, content, { mode: 0o600 })
    t.equal(await startSsh(), null)
    t.throws(checkHostKeys, { name: 'Misconfigured', message: said })
    await t.rejects(async () => sshCheck.examine(context), { message: said })
  }
  const server = await startServer()
  t.equal((await fetch(`http://127.0.0.1:${server.port}/-/health`)).status, 200)
  await server.stop()
  rmSync(first, { recursive: true })
  writeFileSync(first, whole, { mode: 0o600 })
  t.doesNotThrow(checkHostKeys)
})

t.test('a restore brings the keys back', async t => {
  const keys = ensureHostKeys()
  const folder = mkdtempSync(join(tmpdir(), 'gitstead-keys-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const secretsTo = join(folder, 'secrets')
  const apart = await createBackup({ secretsTo }, someOrigin)
  const inside = await createBackup({ withSecrets: true }, someOrigin)
  for (const [backup, flags] of [
    [apart, ['--secrets', secretsTo]],
    [inside, []]
  ] as const) {
    const into = join(folder, backup.id.slice(-4))
    const { code, stderr } = await cli(['restore', backup.path, '--into', into, ...flags])
    t.equal(code, 0, stderr)
    const restored = [first, second].map(path => path.replace(home, into))
    t.same(
      restored.map(path => readFileSync(path, 'utf8')),
      keys
    )
    t.equal((statSync(restored[0] ?? '').mode & 0o777).toString(8), '600')
  }
})
