// The flags and texts that the commands for members share.
import { BadParameters, Conflict, Forbidden } from '../../errors.js'
import { levelName } from '../../lib/levels.js'
import { Flags } from '../oclif.js'

export const levelFlag = Flags.option({
  options: ['guest', 'reporter', 'developer', 'master', 'owner'] as const,
  description: 'access level of the member; only groups can have owners'
})
export const expiresFlag = Flags.string({
  description: 'end the membership when this day begins (UTC), such as 2027-01-31, or `never`'
})

export const SOURCE = 'the project NAMESPACE/PROJECT, or the group: path or number'

/** Returns the end for the rule: undefined when it is not given, '' for `never`. Throws BadParameters when it is not a day. */
export function endOf(text: string | undefined): string | undefined {
  if (text === undefined || text === 'never') return text && ''
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return text
  const problem = `--expires must be a day such as 2027-12-31, or never (it is ${JSON.stringify(text)})`
  throw new BadParameters(problem, problem)
}

interface Of {
  readonly type: 'project' | 'namespace'
  readonly path: string
}

/** `group team` or `project ada/engine`. */
export const nameOf = ({ type, path }: Of): string => `${type === 'project' ? 'project' : 'group'} ${path}`

/** `Developer, until 2027-01-31`. */
export const termsOf = ({
  access_level: level,
  expires_at: end
}: {
  access_level: number
  expires_at: string | null
}) => `${levelName(level)}${end === null ? '' : `, until ${end}`}`

/** Explains why a membership cannot change: the rule only throws Forbidden. */
export async function orWhy<T>(source: Of, username: string, change: () => Promise<T>): Promise<T> {
  try {
    return await change()
  } catch (error) {
    if (!(error instanceof Forbidden)) throw error
    throw new Conflict(
      source.type === 'project'
        ? `${username} is the owner of project ${source.path} and stays its Master`
        : `${username} is the last owner of group ${source.path}: make another user an owner first`
    )
  }
}
