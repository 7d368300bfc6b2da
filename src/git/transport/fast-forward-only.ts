// How git refuses to rewrite some branches of a push. Only git can tell, because the new commits are its own until the refs move.
import { join } from 'node:path'
import { root } from '../../config.js'
import { settingsWith } from '../process/environment.js'
import { ZERO } from '../refs/refs.js'

/** Characters of names in one variable of an environment: Linux takes 128 KiB. */
const MOST_NAMES = 65_536
const FOR_ALL = settingsWith([['receive.denyNonFastForwards', 'true']])

interface Command {
  readonly old: string
  readonly new: string
  readonly ref: string
}

/**
 * Returns the environment in which git refuses to move the `kept` branches to what does not contain their old values;
 * undefined when there are none.
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
  // Git's own rule is for all branches, and costs nothing. Where others may be rewritten by the same push, a hook looks at
  // each, with a process for a kept one. Beyond the limit the rule holds for all.
  if (!commands.some(isOther) || list.length > MOST_NAMES) return FOR_ALL
  return { ...settingsWith([['core.hooksPath', join(root, 'bin/hooks')]]), GITSTEAD_KEPT_REFS: list }
}
