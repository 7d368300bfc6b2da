// "Shared constants": access levels of members, and visibility levels of projects, groups and snippets.

export const GUEST = 10
export const REPORTER = 20
export const DEVELOPER = 30
export const MASTER = 40
export const OWNER = 50

export type Level = typeof GUEST | typeof REPORTER | typeof DEVELOPER | typeof MASTER | typeof OWNER

const LEVEL_NAMES: ReadonlyMap<number, string> = new Map([
  [GUEST, 'Guest'],
  [REPORTER, 'Reporter'],
  [DEVELOPER, 'Developer'],
  [MASTER, 'Master'],
  [OWNER, 'Owner']
])

/** The name of an access level, such as `Master`; a level that has no name gives its number. */
export const levelName = (level: number): string => LEVEL_NAMES.get(level) ?? String(level)

/** The names as people write them to a command, such as `master`, the lowest level first. */
export const LEVEL_WORDS: readonly string[] = [...LEVEL_NAMES.values()].map(name => name.toLowerCase())

/** The level of a name, in any case, or of a number as the API takes it; undefined for any other text. */
export function levelOf(text: string): number | undefined {
  const wanted = text.trim().toLowerCase()
  return [...LEVEL_NAMES].find(([level, name]) => String(level) === wanted || name.toLowerCase() === wanted)?.[0]
}

export const PRIVATE = 0
export const INTERNAL = 10
export const PUBLIC = 20

/** The levels in the order in which the application settings count them: 0, 1, 2. */
export const VISIBILITIES = [
  { level: PRIVATE, name: 'private' },
  { level: INTERNAL, name: 'internal' },
  { level: PUBLIC, name: 'public' }
] as const
export type VisibilityName = (typeof VISIBILITIES)[number]['name']

/** The name of a visibility level. Nobody sees more of an unknown level than of a private one. */
export const visibilityName = (level: number): VisibilityName =>
  VISIBILITIES.find(visibility => visibility.level === level)?.name ?? 'private'

/** The visibility level that has this name. */
export const visibilityOf = (name: VisibilityName): number =>
  VISIBILITIES.find(visibility => visibility.name === name)?.level ?? PRIVATE
