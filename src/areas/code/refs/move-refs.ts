// Ref changes of the API. They take the same steps as a push, with `git update-ref` instead of `git receive-pack`.
import type { Origin } from '../../../access/actor.js'
import { BadRequest } from '../../../errors.js'
import { RefBlocked, RefMoved, RefWithoutObject, refValue, updateRef, ZERO } from '../../../git/refs/refs.js'
import { NO_REWRITE } from '../../../git/transport/fast-forward-only.js'
import { batches } from '../../../lib/batches.js'
import { repositoryPath, type StoredProject } from '../../projects/projects/repositories.js'
import { judge, NO_PUSH, type PushedProject, refusals } from './push-policy.js'
import { abandonChanges, type ChangeSource, openChanges, type RefMove, settleChanges } from './ref-changes.js'

export type MovableProject = StoredProject & PushedProject

export interface MoveOptions {
  readonly write?: () => Promise<void>
  /** Called when the refs have moved, while the effects are still written. */
  readonly moved?: () => void
  /** Whether the moves merge reviewed changes: pushing and merging need different rights. */
  readonly how?: 'push' | 'merge'
}

/**
 * Moves all refs or none; each new value must contain the old one. `write` writes the new objects, if they do not exist
 * yet, while the rows of the changes are written. Throws RefMoved when a ref no longer has its old value, RefBlocked
 * when the name of another ref conflicts with its name, RefWithoutObject for a commit that was pruned, BadRequest for a
 * change that the policy refuses, and the errors of `write`; then no ref has moved.
 */
export async function moveRefs(
  project: MovableProject,
  moves: readonly RefMove[],
  origin: Origin,
  { how = 'push', ...steps }: MoveOptions = {}
): Promise<void> {
  const { reasons } = await judge(project, moves, { actor: { user: origin.asker }, forward: true, how })
  const [refused] = reasons.values()
  if (refused) throw new BadRequest(refused === NO_PUSH ? 'You are not allowed to push into this branch' : refused)
  await move(project, moves, origin, steps)
}

/**
 * Restores refs to their values in a backup. It checks only the names: a person who restores a project may move its
 * protected branches back. Throws as moveRefs does.
 */
export async function putRefsBack(
  project: StoredProject & { readonly default_branch: string | null },
  moves: readonly RefMove[],
  origin: Origin
): Promise<void> {
  const [refused] = refusals(project, moves).values()
  if (refused) throw new BadRequest(refused)
  await move(project, moves, origin)
}

/** Moves that go to git together: when one of them fails, each is tried by itself. */
const AT_ONCE = 100

/**
 * Moves refs to objects that the repository has already, as a push of the same user would. `rewrites` has the branches whose new
 * values lack their old ones. Each ref that may move moves, whatever happens to the others. Returns why the others did not move.
 */
export async function pushMoves(
  project: MovableProject,
  moves: readonly RefMove[],
  { rewrites, origin }: { readonly rewrites: ReadonlySet<string>; readonly origin: Origin }
): Promise<ReadonlyMap<string, string>> {
  const { reasons, kept } = await judge(project, moves, { actor: { user: origin.asker } })
  for (const ref of kept) if (rewrites.has(ref)) reasons.set(ref, NO_REWRITE)
  const together = async (some: readonly RefMove[]): Promise<void> => {
    try {
      await move(project, some, origin, { source: 'push' })
    } catch (error) {
      const reason = reasonOf(error)
      const [only, ...others] = some
      if (reason === undefined || !only) throw error
      if (others.length === 0) reasons.set(only.ref, reason)
      else for (const one of some) await together([one])
    }
  }
  const allowed = moves.filter(({ ref }) => !reasons.has(ref))
  for (const some of batches(allowed, AT_ONCE)) await together(some)
  return reasons
}

function reasonOf(error: unknown): string | undefined {
  if (error instanceof RefMoved) return 'somebody has moved it in the meantime'
  if (error instanceof RefBlocked) return 'its name conflicts with the name of another ref'
  if (error instanceof RefWithoutObject) return 'its commit is missing'
  return undefined
}

async function move(
  project: StoredProject,
  moves: readonly RefMove[],
  origin: Origin,
  { write, moved, source = 'api' }: Pick<MoveOptions, 'write' | 'moved'> & { readonly source?: ChangeSource } = {}
): Promise<void> {
  const repository = repositoryPath(project)
  const [opened, written] = await Promise.allSettled([openChanges(project, origin.asker, source, moves), write?.()])
  if (opened.status === 'rejected') throw opened.reason
  const open = opened.value
  if (written.status === 'rejected') {
    await settleChanges(project, open, [])
    throw written.reason
  }
  try {
    await updateRef(repository, [...moves])
  } catch (error) {
    // These errors mean that no ref moved. After any other error, such as a timeout, the refs show the result.
    const certain = [RefMoved, RefBlocked, RefWithoutObject].some(kind => error instanceof kind)
    const results = certain ? [] : await lookAt(repository, moves).catch(() => undefined)
    if (results) await settleChanges(project, open, results)
    else await abandonChanges(open)
    throw error
  }
  moved?.()
  await settleChanges(
    project,
    open,
    moves.map(({ ref }) => ({ ref, ok: true }))
  )
}

function lookAt(repository: string, moves: readonly RefMove[]) {
  return Promise.all(
    moves.map(async ({ ref, new: next }) => ({ ref, ok: ((await refValue(repository, ref)) ?? ZERO) === next }))
  )
}
