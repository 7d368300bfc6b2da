// The rules for a group's attributes.
import type { ActorUser } from '../../../access/actor.js'
import { duplicateKey } from '../../../db/connect/failure.js'
import { Invalid, Taken } from '../../../errors.js'
import { pathProblem } from '../../../lib/path.js'
import { isLonger, lineProblem } from '../../../lib/text-line.js'
import { applicationSettings } from '../../ground/settings/settings.queries.js'
import { checkVisibility } from '../../ground/settings/visibility.js'

/** The attributes of a group in a request. */
export interface GroupChange {
  readonly name?: string
  readonly path?: string
  readonly description?: string
  readonly visibility_level?: number
  readonly lfs_enabled?: boolean
  readonly request_access_enabled?: boolean
  readonly share_with_group_lock?: boolean
}

/** The attributes of a new group. */
export interface GroupBody extends GroupChange {
  readonly name: string
  readonly path: string
}

export const GROUP_ATTRIBUTES = [
  'name',
  'path',
  'description',
  'visibility_level',
  'lfs_enabled',
  'request_access_enabled',
  'share_with_group_lock'
] as const satisfies readonly (keyof GroupChange)[]

const LONGEST = 255
/** Control characters except tabs and line ends. */
const CONTROL = /[^\P{Cc}\t\r\n]/u

/** Throws Invalid for a name, path or description that a group cannot have. */
export function checkGroup({ name, path, description }: GroupChange): void {
  const problems = {
    name: name === undefined ? null : lineProblem(name),
    path: path === undefined ? null : pathProblem(path, 'namespace'),
    description: description === undefined ? null : descriptionProblem(description)
  }
  const errors: Record<string, string[]> = {}
  for (const [attribute, problem] of Object.entries(problems)) if (problem) errors[attribute] = [problem]
  if (Object.keys(errors).length > 0) throw new Invalid(errors)
}

function descriptionProblem(text: string): string | null {
  if (isLonger(text, LONGEST)) return `is too long (maximum is ${LONGEST} characters)`
  return CONTROL.test(text) ? 'is invalid' : null
}

/** Throws Invalid for a visibility level that only administrators may use. A command may use all levels. */
export async function checkGroupVisibility(level: number, asker: Pick<ActorUser, 'admin'> | null): Promise<void> {
  checkVisibility(level, asker ?? { admin: true }, await applicationSettings())
}

/** Turns the error of a group's write into Invalid when its path is taken; otherwise returns the error. */
export const takenPath = (error: unknown): unknown =>
  duplicateKey(error) === 'namespaces_path' ? new Taken('path') : error
