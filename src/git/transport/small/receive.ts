// Receives a small push without git processes, of which `git receive-pack` needs five: most pushes bring one commit. It
// only accepts what git would accept: one ref, a few plain objects, and nothing that is missing. It refuses nothing: a
// push that is unusual or wrong in any way is left to git from its beginning.
//
// All checks are made in memory, so nothing needs a quarantine: the objects are written when the push is accepted, and
// the ref moves when they are on the disk.
import { Limiter } from '../../../lib/limiter.js'
import { type LooseObject, writeObjects } from '../../objects/loose-writer.js'
import { keepWritten } from '../../objects/objects.js'
import { LeaveToGit } from '../../objects/odb/leave-to-git.js'
import { readSmall } from '../../objects/reader.js'
import { isHidden } from '../../refs/hidden.js'
import { listEveryRef } from '../../refs/list.js'
import { lookUpRef } from '../../refs/lookup.js'
import { moveRef } from '../../refs/move-ref.js'
import { isNewRefName, ZERO } from '../../refs/refs.js'
import { isPlainPush } from '../capabilities.js'
import { connect } from './connected.js'
import { type ReadBase, readPack } from './pack.js'

interface Command {
  readonly old: string
  readonly new: string
  readonly ref: string
}

export interface SmallPush {
  readonly commands: readonly Command[]
  readonly capabilities: readonly string[]
  /** Branches that must not be rewritten. */
  readonly kept?: readonly string[]
  readonly client?: string
  /** The whole request, with the commands. */
  readonly body: Buffer
  /** Where the pack begins in the body. */
  readonly packAt: number
}

/** The maximum number of bytes of a request. */
const MOST_BYTES = 64 * 1024

/** Each push in work holds at most a few megabytes. */
const turns = new Limiter({ capacity: 4 })

/** Receives a push. Returns false when nothing has changed, and git must receive it. */
export async function receiveSmall(repository: string, push: SmallPush): Promise<boolean> {
  const [command] = push.commands
  if (!command || !isPlain(push, command)) return false
  return await turns.run({ client: push.client }, async () => {
    try {
      return await receive(repository, push, command)
    } catch {
      // Whatever has failed: git begins from the start, and reports what it finds.
      return false
    }
  })
}

function isPlain({ commands, capabilities, body }: SmallPush, { ref, new: next }: Command): boolean {
  return (
    commands.length === 1 &&
    next !== ZERO &&
    isNewRefName(ref) &&
    !isHidden(ref) &&
    body.length <= MOST_BYTES &&
    isPlainPush(capabilities)
  )
}

async function receive(repository: string, { kept, body, packAt }: SmallPush, command: Command): Promise<boolean> {
  const { ref, old, new: tip } = command
  if ((await lookUpRef(repository, ref)) !== (old === ZERO ? null : old)) return false
  const arrived = await readPack(body.subarray(packAt), baseIn(repository))
  if (ref.startsWith('refs/heads/') && arrived.get(tip)?.type === 'tag') return false
  const { objects, roots } = await connect(repository, tip, { objects: arrived, old, tips: () => tipsOf(repository) })
  if (kept?.includes(ref) && !roots.has(old)) return false
  await write(repository, objects)
  return await moveRef(repository, command)
}

/** Large objects are left to git. */
const baseIn =
  (repository: string): ReadBase =>
  async id => {
    const found = await readSmall(repository, id)
    return found?.content ? { type: found.type, content: found.content } : null
  }

async function tipsOf(repository: string): Promise<ReadonlySet<string>> {
  const list = await listEveryRef(repository)
  if (!list) throw new LeaveToGit('the refs of a repository that only git can list')
  return new Set(list.refs.flatMap(({ id, peeled }) => (peeled === null ? [id] : [id, peeled])))
}

async function write(repository: string, objects: readonly LooseObject[]): Promise<void> {
  if (objects.length === 0) return
  await writeObjects(repository, objects)
  await keepWritten(repository, objects)
}
