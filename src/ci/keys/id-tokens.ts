// Reads `id_tokens`: variables with tokens that this service signs, so that a build can prove its identity to other services.
import type { CiIdToken } from '../config-types.js'
import {
  checkKeys,
  given,
  kindOf,
  pathOf,
  printable,
  readList,
  readSection,
  reportAt,
  type Section,
  variableProblem
} from '../config-values.js'
import { keyText } from '../load-yaml.js'

const MOST_TOKENS = 20
const MOST_AUDIENCES = 10
const LONGEST_AUDIENCE = 500

/** The tokens of the mapping `id_tokens`: NAME to `{aud}`. */
export function readIdTokens(section: Section): CiIdToken[] {
  const tokens = readSection(section, 'id_tokens')
  if (!tokens) return []
  if (tokens.entries.size > MOST_TOKENS) reportAt(section, 'id_tokens', `are more than ${MOST_TOKENS}`)
  return [...tokens.entries].slice(0, MOST_TOKENS).flatMap(([key, value]): CiIdToken[] => {
    const name = keyText(key)
    const path = pathOf(tokens, printable(name))
    const problem = variableProblem(name, [])
    if (problem) tokens.report(path, problem)
    if (value instanceof Map) {
      const audiences = readAudiences({ ...tokens, path, entries: value })
      return problem ? [] : [{ name, audiences }]
    }
    tokens.report(path, `should be a mapping with \`aud\`, not ${kindOf(value)}`)
    return []
  })
}

function readAudiences(token: Section): string[] {
  checkKeys(token, ['aud'], [])
  const audiences = readList(token, 'aud', { single: true, check: audienceProblem })
  // A recipient of a token for everybody could use it at another service.
  if (audiences === undefined) reportAt(token, 'aud', 'is missing: name the service that the token is for')
  else if (Array.isArray(given(token, 'aud')) && audiences.length === 0) reportAt(token, 'aud', 'should not be empty')
  else if (audiences.length > MOST_AUDIENCES) reportAt(token, 'aud', `are more than ${MOST_AUDIENCES}`)
  return [...new Set(audiences)]
}

function audienceProblem(text: string): string | undefined {
  if (text.trim() === '') return 'should not be empty'
  return text.length > LONGEST_AUDIENCE ? `is longer than ${LONGEST_AUDIENCE} characters` : undefined
}
