// A home with real repositories, and its backups.
import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { repositoryPath } from '../../../../src/areas/projects/projects/repositories.js'
import { listProjectsToCopy } from '../../../../src/areas/upkeep/backup/copy-repositories.js'
import { createBackup } from '../../../../src/areas/upkeep/backup/create.js'
import { readFileList, readManifest } from '../../../../src/areas/upkeep/backup/manifest.js'
import { readKnownChanges } from '../../../../src/areas/upkeep/backup/reset-refs.js'
import type { Draft } from '../../../../src/areas/upkeep/backup/unit.js'
import { withSnapshot } from '../../../../src/db/snapshot/snapshot.js'
import { cli } from '../../../helpers/cli.js'
import { testDatabase } from '../../../helpers/database.js'
import { factory, someOrigin } from '../../../helpers/factory.js'

export const { home, databaseUrl } = await testDatabase()
export const project = await factory.project()
await factory.file(project, 'README.md', 'one\n')
await factory.file(project, 'src/main.c', 'int main;\n')
export const empty = await factory.project()
export const big = await factory.project()
await factory.file(big, 'big.bin', 'x'.repeat(3_000_000))

export const source = repositoryPath({ id: project.id, storage: 'default' })
/** The environment of commands: without the database of the tests, because a restored home has its own. */
export const environment = { GITSTEAD_HOME: home }

export const create = (options: Parameters<typeof createBackup>[0] = {}) => createBackup(options, someOrigin)

export const git = (repository: string, ...args: string[]) =>
  execFileSync('git', args, { encoding: 'utf8', env: { ...process.env, GIT_DIR: repository }, stdio: 'pipe' }).trim()

export const manifestOf = (backup: { path: string }) => readManifest(backup.path)

export function unitOf(backup: { path: string }, id = project.id) {
  const unit = manifestOf(backup).units.find(each => each.project?.id === id)
  if (!unit) throw new Error(`project ${id} is not in the backup`)
  return { ...unit, folder: join(backup.path, unit.path), list: readFileList(backup.path, unit) }
}

/** What a backup reads from the snapshot. */
export const snapshot = (id?: number) =>
  withSnapshot(async open => ({
    projects: (await listProjectsToCopy(open)).filter(each => id === undefined || each.id === id),
    known: await readKnownChanges(open)
  }))

export const draftIn = (folder: string): Draft => ({
  folder,
  previous: null,
  totals: { files: 0, bytes: 0, new_files: 0, new_bytes: 0 },
  tick: () => undefined
})

/** The other arguments of the copy functions. */
export const quietly = { signal: new AbortController().signal, done: () => undefined }

export const verify = async (backup: { path: string }) => {
  const { code, json, stderr } = await cli(['backup', 'verify', backup.path, '--json'], { environment })
  if (stderr !== '') t.comment(stderr)
  return {
    code,
    ...(json() as { ok: boolean; problems: string[]; notes: string[]; checked: { repositories: number } })
  }
}

/** Copies a backup to a separate folder without shared files, so that a test can damage it without affecting others. */
export function duplicate(backup: { path: string }, folder: string): { path: string } {
  execFileSync('cp', ['-r', backup.path, folder])
  return { path: folder }
}

/** Changes a byte in the middle of a file. */
export function flip(path: string): void {
  chmodSync(path, 0o600)
  const bytes = readFileSync(path)
  const at = Math.floor(bytes.length / 2)
  bytes[at] = (bytes[at] ?? 0) ^ 1
  writeFileSync(path, bytes)
}
