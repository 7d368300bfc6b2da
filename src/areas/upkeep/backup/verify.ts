// Verifies a backup by a real restore into a temporary home, because a backup is only useful if it can be restored.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { config } from '../../../config.js'
import { Failure } from '../../../errors.js'
import { closeReaders } from '../../../git/objects/reader.js'
import { makeFolders } from '../../../home.js'
import { checkRestored } from './check-restored.js'
import { type Backup, checkUnit } from './copy-back.js'
import { DATABASE_UNIT } from './dump.js'
import { Damaged } from './manifest.js'
import { withDatabaseLog } from './new-home.js'
import { inRestored, secretsFor } from './restore-home.js'
import { fingerprintOf, readHomeSecrets, type SecretFiles } from './secrets-file.js'
import { type BackupRecord, viewBackup } from './store.js'

export interface VerifyOptions {
  readonly secretsFile?: string
  /** The folder in which the temporary home is created. */
  readonly inside?: string
  readonly progress?: (phase: 'restore' | 'check', done: number, total: number) => void
  readonly signal?: AbortSignal
}

export interface Verification {
  readonly ok: boolean
  readonly backup: BackupRecord
  readonly checked: { readonly files: number; readonly repositories: number; readonly refs: number }
  readonly problems: readonly string[]
  readonly notes: readonly string[]
}

/** Restores a backup into a temporary home and checks it. It returns the problems and does not throw for them. */
export async function verifyBackup(backup: Backup, options: VerifyOptions = {}): Promise<Verification> {
  const record = viewBackup(backup.folder, backup.manifest)
  const secrets = await secretsOf(backup, options.secretsFile)
  const { progress } = options
  const parent = parentFolder(options.inside)
  const home = join(parent, `verify-${process.pid}`)
  const damage: string[] = []
  const onDamage = (problem: string) => void damage.push(problem)
  try {
    await checkRows(backup, onDamage)
    // Changed rows are not loaded, because checks of such a home would show nothing.
    if (damage.length > 0) return failed(record, damage)
    const restored = {
      home,
      secrets: { ...secrets, 'config.yaml': null },
      embedded: true,
      onDamage,
      ...(options.signal && { signal: options.signal }),
      progress: (done: number, total: number) => progress?.('restore', done, total)
    }
    return await inRestored(backup, restored, async ({ files, leftOut }) => {
      const found = await checkRestored((done, total) => progress?.('check', done, total))
      await closeReaders()
      const problems = [...damage, ...found.problems]
      const checked = { files, repositories: found.repositories, refs: found.refs }
      return {
        ok: problems.length === 0,
        backup: record,
        checked,
        problems,
        notes: [...leftOut.map(noteOf), ...found.notes]
      }
    })
  } catch (error) {
    if (error instanceof Damaged) return failed(record, [...damage, error.message])
    throw withDatabaseLog(error, home, parent, 'verify-failed.log')
  } finally {
    await closeReaders()
    rmSync(home, { recursive: true, force: true })
  }
}

const noteOf = (column: string) => `no migration makes the column ${column}: a restore leaves it out`

async function checkRows(backup: Backup, onDamage: (problem: string) => void): Promise<void> {
  for (const unit of backup.manifest.units) if (unit.path === DATABASE_UNIT) await checkUnit(backup, unit, onDamage)
}

const failed = (backup: BackupRecord, problems: readonly string[]): Verification => ({
  ok: false,
  backup,
  checked: { files: 0, repositories: 0, refs: 0 },
  problems,
  notes: []
})

/** Returns the secrets of this home if they match, so that a nightly verification needs no secrets in addition to the backup. */
async function secretsOf(backup: Backup, file: string | undefined): Promise<SecretFiles> {
  if (file === undefined && existsSync(join(config().home, 'secrets.json'))) {
    const own = readHomeSecrets()
    if (fingerprintOf(own['secrets.json']) === backup.manifest.secrets.fingerprint) return own
  }
  return secretsFor(backup, file)
}

/** Returns a folder with room for a whole home, and removes the remains of killed verifications in it. Throws Failure. */
function parentFolder(inside: string | undefined): string {
  const own = join(config().home, 'tmp')
  const parent = inside === undefined ? (existsSync(own) ? own : tmpdir()) : resolve(inside)
  try {
    makeFolders(parent)
    for (const name of readdirSync(parent)) {
      const [, pid] = /^verify-(\d+)$/.exec(name) ?? []
      if (pid && !existsSync(`/proc/${pid}`)) rmSync(join(parent, name), { recursive: true, force: true })
    }
  } catch (error) {
    throw new Failure(
      `${parent} cannot be used (${(error as NodeJS.ErrnoException).code}): choose another folder with --in`
    )
  }
  return parent
}
