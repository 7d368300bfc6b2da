// Usernames from what a provider calls a person.
import { lowerMarks, row, rows } from '../../../db/connect/sql.js'
import { pathProblem } from '../../../lib/path.js'

/** So that a number fits behind it. */
const LONGEST = 200
const TRIED = 50

/** Returns a valid username that is close to a text, and that nobody has: a name, or the part of an address before the @. */
export async function freeUsername(wanted: string): Promise<string> {
  const base = validUsername(wanted)
  const names = [base, ...Array.from({ length: TRIED }, (_, at) => `${base}${at + 1}`)].filter(isValid)
  const found = await rows<{ path: string }>(
    `select path from namespaces where path_key in (${lowerMarks(names)})
     union select path from namespace_redirects where reserved = 1 and path_key in (${lowerMarks(names)})`,
    [...names, ...names]
  )
  const taken = new Set(found.map(({ path }) => path.toLowerCase()))
  return names.find(name => !taken.has(name.toLowerCase())) ?? `${base}-${await unusedNumber()}`
}

/** Somebody with a very usual name gets the number of the newest account. */
async function unusedNumber(): Promise<number> {
  const found = await row<{ id: number | null }>('select max(id) as id from users')
  return (found?.id ?? 0) + 1
}

const isValid = (name: string) => pathProblem(name, 'namespace') === null

function validUsername(wanted: string): string {
  const [local = ''] = wanted.split('@')
  const plain = local
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^a-zA-Z0-9_.-]+/g, '-')
    .replace(/(\.(git|atom))+$/i, '')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, LONGEST)
    .replace(/[-.]+$/, '')
  return plain === '' ? 'user' : plain
}
