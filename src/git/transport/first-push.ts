// Receives the first push of a large repository. `git receive-pack` walks through the whole history afterwards, to see
// that no object is missing: a third of the processor time of a push of 80,000 commits. That walk finds nothing when each
// object of the pack names only objects of the same pack, which `index-pack` knows. Git omits the walk in clones for this
// reason; this does the same for a push: index-pack runs with the same checks, in the same kind of quarantine.
//
// Only a complete success counts. After any other result, `git receive-pack` receives the push from its beginning.
import { randomBytes } from 'node:crypto'
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { config } from '../../config.js'
import { IGNORED_FAULTS } from '../process/environment.js'
import type { Exit } from '../process/run.js'
import { isHidden } from '../refs/hidden.js'
import { listEveryRef } from '../refs/list.js'
import { isNewRefName, ZERO } from '../refs/refs.js'
import { isPlainPush } from './capabilities.js'
import { setRefs } from './set-refs.js'

interface Command {
  readonly old: string
  readonly new: string
  readonly ref: string
}

export interface FirstPush {
  /** The arguments and variables of git, whose input is the pack. */
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  /** Sets the refs when git has accepted the pack. Returns false when nothing has changed. */
  readonly conclude: (exit: Exit, output: string) => Promise<boolean>
  /** Removes what git has written. */
  readonly drop: () => Promise<void>
}

const MOST_REFS = 1000

/** Prepares to receive a push in this way. Returns null for a push to a repository with refs, and for an unusual push. */
export async function prepareFirstPush(
  repository: string,
  { commands, capabilities }: { readonly commands: readonly Command[]; readonly capabilities: readonly string[] }
): Promise<FirstPush | null> {
  if (commands.length > MOST_REFS || new Set(commands.map(({ ref }) => ref)).size < commands.length) return null
  if (
    !commands.every(({ ref, old, new: next }) => old === ZERO && next !== ZERO && isNewRefName(ref) && !isHidden(ref))
  )
    return null
  if (!capabilities.includes('side-band-64k') || !isPlainPush(capabilities)) return null
  const list = await listEveryRef(repository)
  if (list?.refs.length !== 0) return null
  const objects = join(repository, 'objects')
  // The name that git gives to a quarantine, so that upkeep removes it after a crash.
  const quarantine = join(objects, `tmp_objdir-incoming-${randomBytes(6).toString('hex')}`)
  await mkdir(join(quarantine, 'pack'), { recursive: true, mode: 0o700 })
  const drop = () => rm(quarantine, { recursive: true, force: true })
  const faults = IGNORED_FAULTS.map(fault => `${fault}=ignore`).join(',')
  return {
    args: [
      ...['index-pack', '--stdin', `--strict=${faults}`, '--check-self-contained-and-connected'],
      ...[`--max-input-size=${config().git.max_push_size}`],
      ...(capabilities.includes('quiet') ? [] : ['--show-resolving-progress'])
    ],
    environment: {
      GIT_OBJECT_DIRECTORY: quarantine,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: objects,
      GIT_QUARANTINE_PATH: quarantine
    },
    conclude: async (exit, output) => {
      try {
        const name = exit.code === 0 && !exit.ended ? /^pack\t([0-9a-f]{40})\n$/.exec(output)?.[1] : undefined
        return name !== undefined && (await accept(repository, { quarantine, name, commands }))
      } finally {
        await drop()
      }
    },
    drop
  }
}

interface Accepted {
  readonly quarantine: string
  /** The id of the pack. */
  readonly name: string
  readonly commands: readonly Command[]
}

async function accept(repository: string, { quarantine, name, commands }: Accepted): Promise<boolean> {
  const folder = join(quarantine, 'pack')
  const wanted = commands.map(command => Buffer.from(command.new, 'hex'))
  if (!(await containsAll(join(folder, `pack-${name}.idx`), wanted))) return false
  // A pack exists for others when its index does, so the index comes last.
  const names = (await readdir(folder)).filter(file => file.startsWith(`pack-${name}.`) && !file.endsWith('.idx'))
  for (const file of [...names, `pack-${name}.idx`]) {
    await rename(join(folder, file), join(repository, 'objects/pack', file))
  }
  return await setRefs(repository, commands)
}

const FANOUT_AT = 8
const ID_BYTES = 20

/** Returns whether the index of a pack contains all these ids. The index was just written by git. */
async function containsAll(path: string, ids: readonly Buffer[]): Promise<boolean> {
  const file = await open(path)
  try {
    const fanout = Buffer.alloc(256 * 4)
    await file.read(fanout, 0, fanout.length, FANOUT_AT)
    const until = (byte: number) => (byte < 0 ? 0 : fanout.readUInt32BE(byte * 4))
    for (const id of ids) {
      const [from, to] = [until((id[0] ?? 0) - 1), until(id[0] ?? 0)]
      const part = Buffer.alloc((to - from) * ID_BYTES)
      await file.read(part, 0, part.length, FANOUT_AT + fanout.length + from * ID_BYTES)
      let at = part.indexOf(id)
      while (at !== -1 && at % ID_BYTES !== 0) at = part.indexOf(id, at + 1)
      if (at === -1) return false
    }
    return true
  } finally {
    await file.close()
  }
}
