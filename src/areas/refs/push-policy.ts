// Checks ref changes before git receives them.
import { isMisleading, isOwn, isRefName, ZERO } from '../../git/refs.js'
import type { RefMove } from './ref-changes.js'

/** Returns the reasons for refused changes by ref. The map is empty when all changes are allowed. */
export function refusals(project: { default_branch: string | null }, moves: readonly RefMove[]): Map<string, string> {
  const reasons = new Map<string, string>()
  for (const move of moves) {
    const reason = refusal(project, move)
    if (reason) reasons.set(move.ref, reason)
  }
  return reasons
}

function refusal({ default_branch }: { default_branch: string | null }, { ref, new: next }: RefMove): string | null {
  if (!isRefName(ref)) return 'the name is not allowed'
  // A misleading ref from before this rule may go.
  if (isOwn(ref) || (isMisleading(ref) && next !== ZERO)) return 'the name is reserved'
  // Not specified: other kinds of refs, such as notes, may be pushed as well.
  if (next === ZERO && default_branch !== null && ref === `refs/heads/${default_branch}`) {
    return 'the default branch cannot be deleted'
  }
  return null
}
