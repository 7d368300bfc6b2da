// Access levels of members, and what a project's visibility adds.

export const GUEST = 10
export const REPORTER = 20
export const DEVELOPER = 30
export const MASTER = 40
export const OWNER = 50

export const PRIVATE = 0
export const INTERNAL = 10
export const PUBLIC = 20

export type Level = typeof GUEST | typeof REPORTER | typeof DEVELOPER | typeof MASTER | typeof OWNER
