// Ref changes of the API. They take the same steps as a push, with `git update-ref` instead of `git receive-pack`.
import type { Origin } from '../../../access/actor.js'
import { BadRequest } from '../../../errors.js'
import { RefBlocked, RefMoved, RefWithoutObject, refValue, updateRef, ZERO } from '../../../git/refs/refs.js'
import { repositoryPath, type StoredProject } from '../../projects/projects/repositories.js'
import { judge, NO_PUSH, type PushedProject, refusals } from './push-policy.js'
import { abandonChanges, openChanges, type RefMove, settleChanges } from './ref-changes.js'

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

async function move(
  project: StoredProject,
  moves: readonly RefMove[],
  origin: Origin,
  { write, moved }: Pick<MoveOptions, 'write' | 'moved'> = {}
): Promise<void> {
  const repository = repositoryPath(project)
  const [opened, written] = await Promise.allSettled([openChanges(project, origin.asker, 'api', moves), write?.()])
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
