// What a visitor wrote in a form that could not be accepted because the session had ended. It goes through the sign-in page and
// comes back as a form, which the visitor sends once more: nothing is sent without a click.
import type { FastifyRequest } from 'fastify'
import { isLocalPath } from '../../lib/link.js'

export interface Unsent {
  readonly action: string
  readonly fields: readonly (readonly [name: string, value: string])[]
}

const CREDENTIALS = new Set([
  'authenticity_token',
  'password',
  'current_password',
  'confirmation',
  'code',
  'secret',
  'proof',
  'passkey'
])

/** The form of a request, without its token. */
export function unsentOf({ url, body }: FastifyRequest): Unsent {
  return { action: url, fields: fieldsOf(body as Readonly<Record<string, unknown>> | null) }
}

/** Returns the texts that somebody wrote in a form, but not its names, numbers and choices. */
export const textsIn = (request: FastifyRequest): Unsent['fields'] =>
  unsentOf(request).fields.filter(([name, value]) => name !== 'keeps_empty' && /\s|.{61}/.test(value.trim()))

function fieldsOf(body: Readonly<Record<string, unknown>> | null): [string, string][] {
  return Object.entries(body ?? {}).flatMap(([name, value]): [string, string][] => {
    if (CREDENTIALS.has(name)) return []
    if (Array.isArray(value)) return value.map(item => [`${name}[]`, String(item)])
    if (typeof value === 'object' && value !== null) {
      return fieldsOf(value as Record<string, unknown>).map(([key, item]) => [`${name}[${key}]`, item])
    }
    return [[name, String(value)]]
  })
}

/** Returns a form as the sign-in page passed it on; undefined for anything else. */
export function parseUnsent(text: string | undefined): Unsent | undefined {
  if (text === undefined) return undefined
  try {
    const { action, fields } = JSON.parse(text) as Partial<Unsent>
    if (typeof action !== 'string' || !isLocalPath(action) || !Array.isArray(fields)) return undefined
    const kept = fields.filter(field => Array.isArray(field) && field.every(part => typeof part === 'string'))
    return { action, fields: kept.map(([name, value]) => [String(name), String(value)] as const) }
  } catch {
    return undefined
  }
}
