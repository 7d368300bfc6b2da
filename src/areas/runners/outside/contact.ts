// What the record of an outside runner says about its program, and when it was last there. Runners ask every few
// seconds, so this is written now and then only.
import { execute } from '../../../db/sql.js'
import type { OutsideRunner } from '../runners.queries.js'

/** A random time between the two: runners that started together do not write together. */
const LEAST_MS = 600_000
const MORE_MS = 600_000
const NAMES = ['name', 'version', 'revision', 'platform', 'architecture'] as const

/** Name, version, revision, platform and architecture, from the `info` of a request. */
export function factsOf(info: unknown): (string | null)[] {
  const given = (typeof info === 'object' && info !== null ? info : {}) as Record<string, unknown>
  return NAMES.map(name => {
    const value = given[name]
    return typeof value === 'string' && value !== '' ? value.slice(0, 255) : null
  })
}

/** Notes that a runner was there, unless the record says so already. Returns whether it changed the record. */
export async function noteContact(runner: OutsideRunner, info: unknown): Promise<boolean> {
  const facts = factsOf(info)
  const told = facts.some((fact, at) => fact !== null && fact !== runner[NAMES[at] ?? 'name'])
  const age = runner.contacted_at === null ? Number.POSITIVE_INFINITY : Date.now() - runner.contacted_at.getTime()
  if (!told && age < LEAST_MS + Math.random() * MORE_MS) return false
  await execute(
    `update runners set name = coalesce(?, name), version = coalesce(?, version), revision = coalesce(?, revision),
       platform = coalesce(?, platform), architecture = coalesce(?, architecture), contacted_at = ? where id = ?`,
    [...facts, new Date(), runner.id]
  )
  return true
}
