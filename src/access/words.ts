// An ability in words: who may do it, and how those who may not are answered. For the OpenAPI document.
import { GUEST, levelName } from '../lib/levels.js'

/** What the words are about: any line of the abilities table. */
interface Described {
  readonly on: 'instance' | 'project' | 'group' | 'record'
  readonly least?: number | 'anybody' | 'user' | 'admin'
  readonly strangers?: true
  readonly anonymous?: true
  readonly publicBuilds?: 'guests' | 'everybody'
  readonly writes?: true
  readonly feature?: string
  readonly whenOff?: 'forbidden' | 'missing' | 'empty'
  readonly scopes?: readonly string[]
  readonly by?: readonly string[]
  readonly refusal?: string
}

/** Who may, in sentences. */
export function whoMay(ability: Described): string {
  const sentences = [
    membersOf(ability),
    othersOf(ability),
    ability.writes && 'Archived projects refuse it.',
    ability.feature &&
      `${WHEN_OFF[ability.whenOff ?? 'forbidden']} while \`${ability.feature}\` of the project is off.`,
    ability.scopes?.includes('read_user') && 'A token of the scope `read_user` is enough.'
  ]
  return sentences.filter(Boolean).join(' ')
}

const WHEN_OFF = { forbidden: 'Answers 403', missing: 'Answers 404', empty: 'Answers an empty list' }

function membersOf({ on, least, by }: Described): string {
  if (least === 'anybody') return 'Everybody may, with or without credentials.'
  if (least === 'user') return 'Every signed-in user may.'
  if (least === 'admin') return 'Only administrators may.'
  const level = typeof least === 'number' ? levelName(least) : undefined
  if (on !== 'record') return `Members of the ${on} may from the level ${level} on.`
  const members = level ? `, members of its project from the level ${level} on` : ''
  return `The ${by?.join(' or ')} of the record may${members}, and administrators.`
}

/** Those who are no members: projects and groups that are not private are open to them. */
function othersOf({ on, strangers, anonymous, publicBuilds }: Described): string | undefined {
  if (publicBuilds === 'everybody') {
    return 'While `public_builds` of the project is on, so may guests, and all users who can see an internal or public project.'
  }
  const guests = publicBuilds && ' Guests of a private project may while `public_builds` is on.'
  if (!strangers) return guests
  const clients = anonymous
    ? `On a public ${on} everybody may, on an internal one every user who is not external.`
    : `On a public ${on} every signed-in user may, on an internal one every user who is not external.`
  return clients + (guests ?? '')
}

/** Whether clients need credentials, may bring them, or need not. */
export function credentialsFor({ least, anonymous }: Described): 'needed' | 'optional' {
  return least === 'anybody' || anonymous ? 'optional' : 'needed'
}

/** Whether a client who knows that the record exists may still be refused. */
export function mayForbid(ability: Described): boolean {
  if (ability.on === 'instance') return ability.least === 'admin'
  if (ability.on === 'record') return ability.refusal === 'forbidden'
  if (ability.writes || (ability.feature !== undefined && (ability.whenOff ?? 'forbidden') === 'forbidden')) return true
  return ability.least !== GUEST
}
