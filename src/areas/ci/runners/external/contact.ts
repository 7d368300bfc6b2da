// The program and the last contact of an external runner, for its record. Runners poll every few seconds, so this is
// written only occasionally.
import { execute } from '../../../../db/connect/sql.js'
import type { OutsideRunner } from '../runners.queries.js'

/** A random time between the two: runners that started together do not write together. */
const LEAST_MS = 600_000
const MORE_MS = 600_000
const NAMES = ['name', 'version', 'revision', 'platform', 'architecture'] as const

/** Name, version, revision, platform and architecture, from the `info` of a request. */
export function factsOf(info: unknown): (string | null)[] {
  const attributes = (typeof info === 'object' && info !== null ? info : {}) as Record<string, unknown>
  return NAMES.map(name => {
    const value = attributes[name]
    return typeof value === 'string' && value !== '' ? value.slice(0, 255) : null
  })
}

/** Records the contact of a runner, unless the record is current. Returns whether it changed the record. */
export async function noteContact(runner: OutsideRunner, info: unknown): Promise<boolean> {
  const facts = factsOf(info)
  const isNew = facts.some((fact, at) => fact !== null && fact !== runner[NAMES[at] ?? 'name'])
  const age = runner.contacted_at === null ? Number.POSITIVE_INFINITY : Date.now() - runner.contacted_at.getTime()
  if (!isNew && age < LEAST_MS + Math.random() * MORE_MS) return false
  await execute(
    `update runners set name = coalesce(?, name), version = coalesce(?, version), revision = coalesce(?, revision),
       platform = coalesce(?, platform), architecture = coalesce(?, architecture), contacted_at = ? where id = ?`,
    [...facts, new Date(), runner.id]
  )
  return true
}
