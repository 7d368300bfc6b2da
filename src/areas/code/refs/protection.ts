// The rules that protect a branch, and what they allow.
import { DEVELOPER, MASTER } from '../../../lib/levels.js'
import { matchesStars } from '../../../lib/stars.js'

export interface ProtectionRule {
  /** The name of a branch, or a pattern in which `*` stands for any characters. */
  readonly name: string
  readonly developers_can_push: number | boolean
  readonly developers_can_merge: number | boolean
}

/** What the rules of a project allow for one branch. */
export interface Protection {
  readonly developersCanPush: boolean
  readonly developersCanMerge: boolean
}

export interface Protections {
  readonly rules: readonly ProtectionRule[]
  /** Returns null for a branch that no rule protects. If several rules match, each of them can allow an action. */
  of(branch: string): Protection | null
}

export function protectionBy(rules: readonly ProtectionRule[]): Protections {
  const exact = new Map(rules.map(rule => [rule.name, rule]))
  const patterns = rules.filter(({ name }) => name.includes('*'))
  return {
    rules,
    of(branch) {
      const own = exact.get(branch)
      const found = [...(own ? [own] : []), ...patterns.filter(rule => rule !== own && matchesStars(rule.name, branch))]
      if (found.length === 0) return null
      return {
        developersCanPush: found.some(rule => Boolean(rule.developers_can_push)),
        developersCanMerge: found.some(rule => Boolean(rule.developers_can_merge))
      }
    }
  }
}

/** Returns whether a user with this level may move a protected branch by a push or by a merge. */
export function allows(protection: Protection, level: number, how: 'push' | 'merge'): boolean {
  if (level >= MASTER) return true
  if (level < DEVELOPER) return false
  return how === 'push' ? protection.developersCanPush : protection.developersCanMerge || protection.developersCanPush
}
