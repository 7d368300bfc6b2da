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

/** Returns the name of an access level, such as `Master`, or the number of a level without a name. */
export const levelName = (level: number): string => LEVEL_NAMES.get(level) ?? String(level)

/** The names of levels in commands, such as `master`, lowest level first. */
export const LEVEL_WORDS: readonly string[] = [...LEVEL_NAMES.values()].map(name => name.toLowerCase())

/** Returns the level with a name, in any case, or with a number as in the API; undefined for any other text. */
export function levelOf(text: string): number | undefined {
  const wanted = text.trim().toLowerCase()
  return [...LEVEL_NAMES].find(([level, name]) => String(level) === wanted || name.toLowerCase() === wanted)?.[0]
}

export const PRIVATE = 0
export const INTERNAL = 10
export const PUBLIC = 20

/** The levels in the order of their indexes in the application settings: 0, 1, 2. */
export const VISIBILITIES = [
  { level: PRIVATE, name: 'private' },
  { level: INTERNAL, name: 'internal' },
  { level: PUBLIC, name: 'public' }
] as const
export type VisibilityName = (typeof VISIBILITIES)[number]['name']

/** Returns the name of a visibility level. An unknown level counts as private. */
export const visibilityName = (level: number): VisibilityName =>
  VISIBILITIES.find(visibility => visibility.level === level)?.name ?? 'private'

/** Returns the visibility level with this name. */
export const visibilityOf = (name: VisibilityName): number =>
  VISIBILITIES.find(visibility => visibility.name === name)?.level ?? PRIVATE
