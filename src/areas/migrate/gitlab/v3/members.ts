import type { Client } from '../../sources/client.js'
import { dayOf, fitting } from '../../sources/shapes.js'
import type { Skipped, SourceMember } from '../../sources/source.js'
import { check } from './shapes.js'

const LEVELS = [10, 20, 30, 40, 50] as const

/** Returns the members in a list of them. */
export async function membersOf(
  client: Client,
  path: string,
  report: { readonly what: string; readonly skipped: Skipped }
): Promise<SourceMember[]> {
  const members: SourceMember[] = []
  for await (const page of client.list(path, { optional: true })) {
    for (const { username, access_level, expires_at } of fitting(page, check.member, report)) {
      const level = LEVELS.find(each => each === access_level)
      if (level !== undefined) members.push({ username, level, expiresAt: dayOf(expires_at) })
    }
  }
  return members
}
