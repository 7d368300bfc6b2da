// "Build variable".
import { Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { decrypt } from '../../../secrets.js'
import type { VariableRow } from './variables.queries.js'

export const Variable = Type.Object(
  { key: Text('the name'), value: Text('the value') },
  { title: 'Variable', description: 'A value in the environment of every build of the project.' }
)

export const viewVariable = ({ name, value_encrypted: box }: VariableRow) => ({ key: name, value: textOf(box) })

/** Returns an empty value for one that was encrypted with a different key: the list must still work, so that it can be set again. */
function textOf(box: Buffer): string {
  try {
    return decrypt(box)
  } catch {
    return ''
  }
}
