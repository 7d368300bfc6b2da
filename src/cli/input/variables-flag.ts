// Variables for the builds of a pipeline. They may be secrets, so they are read from a file or from standard input.

import { BadParameters } from '../../errors.js'
import { pathFlag } from './path-flag.js'
import { readTextFile } from './text-file.js'

/** Bytes: more than the variables are allowed to have. */
const LIMIT = 1_048_576

export const variablesFlag = pathFlag({
  description: 'a file with a JSON object of variables for the builds; - reads standard input'
})

/** Returns the object in the file; undefined without a file. Throws BadParameters. */
export async function readVariables(file: string | undefined): Promise<object | undefined> {
  if (file === undefined) return undefined
  const text = await readTextFile('--variables', file, LIMIT)
  try {
    const found: unknown = JSON.parse(text)
    if (typeof found === 'object' && found !== null) return found
  } catch {
    // Continue to the same error.
  }
  throw new BadParameters('--variables is not a JSON object', '--variables is not a JSON object')
}
