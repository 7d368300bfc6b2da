// Lines of the configuration that say what a group of a provider or directory gives here: `GROUP THERE -> GROUP HERE as LEVEL`.
import { levelOf } from './levels.js'

export interface Grant {
  /** The group there: the value of a claim, a DN, or a name. */
  readonly of: string
  /** The path of the group here. */
  readonly group: string
  readonly level: number
}

/** Returns the paths of groups here, in lower case, with the highest level that lines give to somebody who is in groups there. */
export function levelsIn(lines: readonly string[], isIn: (group: string) => boolean): Map<string, number> {
  const levels = new Map<string, number>()
  for (const { of, group, level } of lines.map(readGrant)) {
    const key = group.toLowerCase()
    if (isIn(of)) levels.set(key, Math.max(level, levels.get(key) ?? 0))
  }
  return levels
}

/** Reads a line that the rules of the configuration have accepted. */
export function readGrant(line: string): Grant {
  const [, of = '', group = '', word = ''] = /^(.+) -> (\S+) as (\w+)$/s.exec(line) ?? []
  return { of, group, level: levelOf(word) ?? 0 }
}
