// The only rule about ref changes: pushes, the API and merges all apply it before git receives anything.
import type { Actor } from '../../../access/actor.js'
import { levelIn, type ProjectAccess } from '../../../access/authorize.js'
import { isMisleading, isOwn, isRefName, ZERO } from '../../../git/refs/refs.js'
import { MASTER } from '../../../lib/levels.js'
import { findProtections } from './protected-branches.queries.js'
import { allows, type Protections } from './protection.js'
import type { RefMove } from './ref-changes.js'

const HEADS = 'refs/heads/'
const PUSHABLE = [HEADS, 'refs/tags/', 'refs/notes/']

export const NO_PUSH = 'You are not allowed to push code to protected branches on this project.'
const NO_MERGE = 'You are not allowed to merge code into protected branches on this project.'
const NO_DELETION = 'You are not allowed to delete protected branches from this project.'

/** The facts about a project on which ref changes depend. */
export interface PushedProject extends ProjectAccess {
  readonly id: number
  readonly default_branch: string | null
}

export interface PushContext {
  /** The author of the ref changes. */
  readonly actor: Pick<Actor, 'user' | 'deployKey'>
  /** Whether the changes merge reviewed commits; otherwise they are pushes. */
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

/** Judges ref changes. Takes at most one statement. */
export async function judge(
  project: PushedProject,
  moves: readonly RefMove[],
  context: PushContext
): Promise<Judgement> {
  const reasons = refusals(project, moves)
  for (const { ref, new: next } of moves) {
    // Refs of other kinds that exist, for example since a backup, may be deleted.
    if (reasons.has(ref) || next === ZERO || PUSHABLE.some(prefix => ref.startsWith(prefix))) continue
    reasons.set(ref, 'only branches, tags and notes can be pushed')
  }
  // Not specified: a master lets a deploy key push, so it may do on protected branches what masters may do.
  const level = context.actor.deployKey === undefined ? levelIn(project, context.actor) : MASTER
  const affected = moves.filter(({ ref, new: next }) => {
    const isHarmless = context.forward && next !== ZERO && level >= MASTER
    return ref.startsWith(HEADS) && !reasons.has(ref) && !isHarmless
  })
  if (affected.length === 0) return { reasons, kept: [] }
  const protections = await findProtections(project.id)
  const kept: string[] = []
  for (const move of affected) {
    const reason = protectionRefusal(protections, move, { level, how: context.how ?? 'push' })
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
  // A push never deletes a protected branch, regardless of the level.
  if (next === ZERO) return NO_DELETION
  if (allows(protection, level, how)) return null
  return how === 'merge' ? NO_MERGE : NO_PUSH
}

/** Returns the reasons that also apply to a restored backup: names that are not allowed, and the deletion of the default branch. */
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
  // A misleading ref from before this rule may be deleted.
  if (isOwn(ref) || (isMisleading(ref) && next !== ZERO)) return 'the name is reserved'
  if (next === ZERO && default_branch !== null && ref === `refs/heads/${default_branch}`) {
    return 'the default branch cannot be deleted'
  }
  return null
}
