// The one rule about ref changes: git pushes, the API and merges all ask it before git gets anything.
import type { Actor } from '../../access/actor.js'
import { levelIn, type ProjectAccess } from '../../access/authorize.js'
import { isMisleading, isOwn, isRefName, ZERO } from '../../git/refs.js'
import { MASTER } from '../../lib/levels.js'
import { findProtections } from './protected-branches.queries.js'
import { allows, type Protections } from './protection.js'
import type { RefMove } from './ref-changes.js'

const HEADS = 'refs/heads/'

export const NO_PUSH = 'You are not allowed to push code to protected branches on this project.'
const NO_MERGE = 'You are not allowed to merge code into protected branches on this project.'
const NO_DELETION = 'You are not allowed to delete protected branches from this project.'

/** The facts about a project on which ref changes depend. */
export interface PushedProject extends ProjectAccess {
  readonly id: number
  readonly default_branch: string | null
}

export interface Wish {
  /** Who changes the refs. */
  readonly actor: Pick<Actor, 'user' | 'deployKey'>
  /** Whether the changes merge what was reviewed; otherwise they are pushes. */
  readonly how?: 'push' | 'merge'
  /** Set when each new value is known to contain the old one. */
  readonly forward?: true
}

export interface Judgement {
  /** The reasons for refused changes by ref. Empty when all changes are allowed. */
  readonly reasons: Map<string, string>
  /** The protected branches that move: git must refuse new values that do not contain the old ones. */
  readonly kept: readonly string[]
}

/** Judges changes of refs. Takes one statement at most. */
export async function judge(project: PushedProject, moves: readonly RefMove[], wish: Wish): Promise<Judgement> {
  const reasons = refusals(project, moves)
  // Not specified: a master has let the deploy key push, so that it may do on protected branches what masters may.
  const level = wish.actor.deployKey === undefined ? levelIn(project, wish.actor) : MASTER
  const concerned = moves.filter(({ ref, new: next }) => {
    const isHarmless = wish.forward && next !== ZERO && level >= MASTER
    return ref.startsWith(HEADS) && !reasons.has(ref) && !isHarmless
  })
  if (concerned.length === 0) return { reasons, kept: [] }
  const protections = await findProtections(project.id)
  const kept: string[] = []
  for (const move of concerned) {
    const reason = protectionRefusal(protections, move, { level, how: wish.how ?? 'push' })
    if (reason) reasons.set(move.ref, reason)
    else if (move.old !== ZERO && protections.of(move.ref.slice(HEADS.length))) kept.push(move.ref)
  }
  return { reasons, kept }
}

function protectionRefusal(
  protections: Protections,
  { ref, new: next }: RefMove,
  { level, how }: { readonly level: number; readonly how: 'push' | 'merge' }
): string | null {
  const protection = protections.of(ref.slice(HEADS.length))
  if (!protection) return null
  // Nobody deletes a protected branch by a push, whatever the level.
  if (next === ZERO) return NO_DELETION
  if (allows(protection, level, how)) return null
  return how === 'merge' ? NO_MERGE : NO_PUSH
}

/** Returns the reasons that hold for everybody: names that are not allowed, and the end of the default branch. */
export function refusals(project: { default_branch: string | null }, moves: readonly RefMove[]): Map<string, string> {
  const reasons = new Map<string, string>()
  for (const move of moves) {
    const reason = refusal(project, move)
    if (reason) reasons.set(move.ref, reason)
  }
  return reasons
}

function refusal({ default_branch }: { default_branch: string | null }, { ref, new: next }: RefMove): string | null {
  if (ref.includes('\ufffd')) return 'the name is not UTF-8'
  if (!isRefName(ref)) return 'the name is not allowed'
  // A misleading ref from before this rule may go.
  if (isOwn(ref) || (isMisleading(ref) && next !== ZERO)) return 'the name is reserved'
  // Not specified: other kinds of refs, such as notes, may be pushed as well.
  if (next === ZERO && default_branch !== null && ref === `refs/heads/${default_branch}`) {
    return 'the default branch cannot be deleted'
  }
  return null
}
