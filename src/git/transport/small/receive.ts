// Receives a small push without git processes, of which `git receive-pack` needs five: most pushes bring one commit. It
// only accepts what git would accept: a few refs and plain objects, and nothing that is missing. It refuses nothing: a
// push that is unusual or wrong in any way is left to git from its beginning.
//
// All checks are made in memory, so nothing needs a quarantine: the objects are written when the push is accepted, and
// the refs move when they are on the disk.
import { Limiter } from '../../../lib/limiter.js'
import { type LooseObject, writeObjects } from '../../objects/loose-writer.js'
import { keepWritten, readCommit } from '../../objects/objects.js'
import { LeaveToGit } from '../../objects/odb/leave-to-git.js'
import { readSmall } from '../../objects/reader.js'
import { isHidden } from '../../refs/hidden.js'
import { listEveryRef, type RefList } from '../../refs/list.js'
import { lookUpRef } from '../../refs/lookup.js'
import { moveRef } from '../../refs/move-ref.js'
import { isNewRefName, ZERO } from '../../refs/refs.js'
import { isPlainPush } from '../capabilities.js'
import { setRefs } from '../set-refs.js'
import { type Arrived, connect } from './connected.js'
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
/** The maximum number of refs: a branch with its tags. The limits on what is read count for each of them. */
const MOST_REFS = 4

/** Each push in work holds at most a few megabytes. */
const turns = new Limiter({ capacity: 4 })

/**
 * Receives a push. Returns false when nothing has changed, and git must receive it. Throws when it is unknown which refs
 * have moved.
 */
export async function receiveSmall(repository: string, push: SmallPush): Promise<boolean> {
  if (!isPlain(push)) return false
  const { commands, client } = push
  const [only] = commands
  const isMove = only !== undefined && only.new !== ZERO && commands.length === 1
  const isDone = await turns.run({ client }, async () => {
    try {
      return (await store(repository, push)) && (!isMove || (await moveRef(repository, only)))
    } catch {
      // Whatever has failed: git begins from the start, and reports what it finds.
      return false
    }
  })
  // Not within the turn: git may wait for seconds for the lock of this repository, and pushes to others would wait, too.
  return isDone && !isMove ? await setRefs(repository, commands) : isDone
}

function isPlain({ commands, capabilities, body }: SmallPush): boolean {
  const isPlainCommand = ({ ref, old, new: next }: Command) => old !== next && isNewRefName(ref) && !isHidden(ref)
  return (
    commands.length > 0 &&
    commands.length <= MOST_REFS &&
    new Set(commands.map(({ ref }) => ref)).size === commands.length &&
    commands.every(isPlainCommand) &&
    body.length <= MOST_BYTES &&
    isPlainPush(capabilities)
  )
}

/** Checks a push and writes its objects. Returns false when git must receive it. */
async function store(repository: string, { commands, kept, body, packAt }: SmallPush): Promise<boolean> {
  for (const { ref, old } of commands) {
    if ((await lookUpRef(repository, ref)) !== (old === ZERO ? null : old)) return false
  }
  if (commands.some(({ ref, new: next }) => next === ZERO && kept?.includes(ref))) return false
  const values = commands.filter(({ new: next }) => next !== ZERO)
  // No pack follows when all refs are deleted.
  if (values.length === 0) return body.length === packAt
  const objects = await readPack(body.subarray(packAt), baseIn(repository))
  const arrived = { objects, ...known(repository, commands) }
  const needed = new Set<LooseObject>()
  for (const { ref, old, new: tip } of values) {
    if (ref.startsWith('refs/heads/') && objects.get(tip)?.type === 'tag') return false
    const connected = await connect(repository, tip, arrived)
    if (kept?.includes(ref) && !connected.roots.has(old)) return false
    for (const object of connected.objects) needed.add(object)
  }
  // Git would keep an object that nothing refers to.
  if (needed.size !== objects.size) return false
  await write(repository, [...needed])
  return true
}

/** Large objects are left to git. */
const baseIn =
  (repository: string): ReadBase =>
  async id => {
    const found = await readSmall(repository, id)
    return found?.content ? { type: found.type, content: found.content } : null
  }

/** What is known to be reachable before a push. The refs are listed once at most, for all refs of the push. */
function known(repository: string, commands: readonly Command[]): Omit<Arrived, 'objects'> {
  const olds = new Set(commands.flatMap(({ old }) => (old === ZERO ? [] : [old])))
  let listing: Promise<RefList> | undefined
  const list = () => {
    listing ??= listOrLeave(repository)
    return listing
  }
  let tips: Promise<ReadonlySet<string>> | undefined
  return {
    olds,
    tips: () => {
      tips ??= list().then(
        ({ refs }) => new Set(refs.flatMap(({ id, peeled }) => (peeled === null ? [id] : [id, peeled])))
      )
      return tips
    },
    // Most pushes that build on an older commit rewrite their branch, or begin a new one from the default branch.
    isInHistory: async id => {
      const { head } = await list()
      return await isNear(repository, id, [...olds, ...(head.ref ? [head.ref.id] : [])])
    }
  }
}

async function listOrLeave(repository: string): Promise<RefList> {
  const list = await listEveryRef(repository)
  if (!list) throw new LeaveToGit('the refs of a repository that only git can list')
  return list
}

/** The maximum number of commits that are read to find an older one: a few milliseconds of work. */
const MOST_COMMITS = 200

/** Returns whether a commit is among the nearest ancestors of these commits. */
async function isNear(repository: string, wanted: string, from: readonly string[]): Promise<boolean> {
  const seen = new Set(from)
  // The set grows while the loop goes through it.
  for (const id of seen) {
    if (id === wanted) return true
    const commit = await readCommit(repository, id)
    for (const parent of commit?.parentIds ?? []) if (seen.size < MOST_COMMITS) seen.add(parent)
  }
  return false
}

async function write(repository: string, objects: readonly LooseObject[]): Promise<void> {
  if (objects.length === 0) return
  await writeObjects(repository, objects)
  await keepWritten(repository, objects)
}
