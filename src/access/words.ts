// Describes an ability in words for the OpenAPI document: the clients that may use it, and the response to other clients.
import { GUEST, levelName } from '../lib/levels.js'

/** The subject of the words: any line of the abilities table. */
interface Described {
  readonly on: 'instance' | 'project' | 'group' | 'record'
  readonly least?: number | 'anybody' | 'user' | 'admin'
  readonly strangers?: true
  readonly anonymous?: true
  readonly admins?: true
  readonly publicBuilds?: 'guests' | 'everybody'
  readonly writes?: true
  readonly feature?: string
  readonly whenOff?: 'forbidden' | 'missing' | 'empty'
  readonly scopes?: readonly string[]
  readonly by?: readonly string[]
  readonly refusal?: string
}

const WHEN_OFF = { forbidden: 'Returns 403', missing: 'Returns 404', empty: 'Returns an empty list' }

/** Returns sentences that say which clients may do it. */
export function whoMay(ability: Described): string {
  const { writes, feature, whenOff = 'forbidden', scopes } = ability
  const sentences = [
    membersOf(ability),
    othersOf(ability),
    publicBuildsOf(ability),
    writes && 'Archived projects refuse it.',
    feature && `${WHEN_OFF[whenOff]} while \`${feature}\` is off.`,
    scopes?.includes('read_user') && 'A token with the scope `read_user` is enough.'
  ]
  return sentences.filter(Boolean).join(' ')
}

function membersOf({ on, least, by, admins }: Described): string {
  if (least === 'anybody') return 'For everybody, with or without credentials.'
  if (least === 'user') return 'For signed-in users.'
  if (least === 'admin' || admins) return 'For administrators.'
  const level = typeof least !== 'number' || least === GUEST ? '' : ` with the level ${levelName(least)} or higher`
  if (on !== 'record') return `For members of the ${on}${level}.`
  const members = least === undefined ? '' : `, members of its project${level}`
  return `For the ${by?.join(' or ')} of the record${members}, and administrators.`
}

/** Describes the access of clients who are not members: projects and groups that are not private are open to them. */
function othersOf({ on, strangers, anonymous, publicBuilds }: Described): string | undefined {
  if (!strangers || publicBuilds === 'everybody') return undefined
  return anonymous
    ? `A public ${on} is open to everybody, an internal one to signed-in users who are not external.`
    : `A public ${on} is open to all signed-in users, an internal one to those who are not external.`
}

function publicBuildsOf({ publicBuilds }: Described): string | undefined {
  if (publicBuilds === 'guests') return 'Guests of a private project need `public_builds` of the project to be on.'
  if (publicBuilds === undefined) return undefined
  return 'While `public_builds` of the project is on, also for guests and for all users who can see the project.'
}

/** Whether clients need credentials. */
export function credentialsFor({ least, anonymous }: Described): 'needed' | 'optional' {
  return least === 'anybody' || anonymous ? 'optional' : 'needed'
}

/** Whether a client who knows that the record exists may still be refused. */
export function mayForbid({ on, least, writes, feature, whenOff = 'forbidden', refusal }: Described): boolean {
  if (on === 'instance') return least === 'admin'
  if (on === 'record') return refusal === 'forbidden'
  return writes === true || (feature !== undefined && whenOff === 'forbidden') || least !== GUEST
}
