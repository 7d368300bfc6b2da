// Makes git refuse to rewrite protected branches in a push. Only git can decide, because the new commits stay in its
// quarantine until the refs move.
import { join } from 'node:path'
import { root } from '../../config.js'
import { settingsWith } from '../process/environment.js'
import { ZERO } from '../refs/refs.js'

/** The maximum number of characters of names in one environment variable: Linux accepts 128 KiB. */
const MOST_NAMES = 65_536
const FOR_ALL = settingsWith([['receive.denyNonFastForwards', 'true']])

/** Says why a branch was not rewritten, as bin/hooks/update does. */
export const NO_REWRITE = 'You are not allowed to force push code to a protected branch on this project.'

/** What git says when it refuses a kept branch, as the reason and as a message with wrong advice. */
export const REWRITE_REASONS: ReadonlySet<string | null> = new Set(['non-fast-forward', 'hook declined'])
export const REWRITE_ADVICE = /error: denying non-fast-forward \S+ \(you should pull first\)/g

interface Command {
  readonly old: string
  readonly new: string
  readonly ref: string
}

/**
 * Returns the environment in which git refuses to move the `kept` branches to commits that do not contain their old
 * values, or undefined when `kept` is empty.
 */
export function keepingHistory(
  commands: readonly Command[],
  kept: readonly string[]
): Record<string, string> | undefined {
  if (kept.length === 0) return undefined
  const names = new Set(kept)
  const isOther = ({ ref, old, new: next }: Command) =>
    ref.startsWith('refs/heads/') && old !== ZERO && next !== ZERO && !names.has(ref)
  const list = kept.join('\n')
  // Git's own rule applies to all branches, and costs nothing. When the same push may rewrite other branches, a hook
  // checks each branch, with one process for each kept branch. Beyond the limit, the rule applies to all branches.
  if (!commands.some(isOther) || list.length > MOST_NAMES) return FOR_ALL
  return { ...settingsWith([['core.hooksPath', join(root, 'bin/hooks')]]), GITSTEAD_KEPT_REFS: list }
}
