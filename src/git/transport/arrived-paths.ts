// Finds out which of some paths a push changes, before git receives it: its pack is unpacked into a quarantine that nobody else reads, and
// is dropped again. This doubles the work for a push, so it is only for projects in which it matters.
import { randomBytes } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { config } from '../../config.js'
import { runGit } from '../process/run.js'
import { ZERO } from '../refs/refs.js'
import { after } from './receive-process.js'

export interface ArrivedPush {
  readonly commands: readonly { readonly new: string }[]
  /** The whole push, which has arrived. */
  readonly input: () => Readable
  /** Its size in bytes. */
  readonly size: number
  /** Where the pack begins in it. */
  readonly packAt: number
  readonly client?: string | undefined
}

/** Bytes. Only names of `paths` are printed. */
const MOST_OUTPUT = 16 * 1024 * 1024

/**
 * Returns those of `paths` that commits change which the repository does not have yet. Merges count only for what they change
 * themselves. Throws GitFailure when the pack cannot be read.
 */
export async function arrivedPaths(repository: string, push: ArrivedPush, paths: readonly string[]): Promise<string[]> {
  const { commands, input, size, packAt, client } = push
  const tips = [...new Set(commands.map(command => command.new))].filter(id => id !== ZERO)
  if (tips.length === 0) return []
  const objects = join(repository, 'objects')
  // The name that git gives to a quarantine, so that upkeep removes it after a crash.
  const quarantine = join(objects, `tmp_objdir-incoming-${randomBytes(6).toString('hex')}`)
  const environment = {
    GIT_OBJECT_DIRECTORY: quarantine,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: objects,
    GIT_QUARANTINE_PATH: quarantine
  }
  const options = { repository, long: true, client, environment }
  try {
    await mkdir(join(quarantine, 'pack'), { recursive: true, mode: 0o700 })
    if (size > packAt) {
      const limit = `--max-input-size=${config().git.max_push_size}`
      await runGit(['index-pack', '--stdin', '--fix-thin', limit], { ...options, input: after(input(), packAt) })
    }
    // The revisions and paths are input, because arguments have a limit.
    const found = await runGit(
      ['log', '--format=', '--name-only', '-z', '-c', '--no-renames', '--full-history', '--stdin', '--not', '--all'],
      { ...options, input: `${[...tips, '--', ...paths].join('\n')}\n`, maxOutput: MOST_OUTPUT }
    )
    const names = new Set(found.toString().split('\0'))
    // A path also selects the files below it.
    return paths.filter(path => names.has(path))
  } finally {
    await rm(quarantine, { recursive: true, force: true })
  }
}
