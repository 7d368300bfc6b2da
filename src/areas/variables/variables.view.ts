// "Build variable".
import { Text } from '../../lib/schema.js'
import { Type } from '../../lib/type.js'
import { decrypt } from '../../secrets.js'
import type { VariableRow } from './variables.queries.js'

export const Variable = Type.Object(
  { key: Text('its name'), value: Text('its value') },
  { title: 'Variable', description: 'A value that every build of the project gets in its environment.' }
)

export const viewVariable = ({ name, value_encrypted: box }: VariableRow) => ({ key: name, value: textOf(box) })

/** Shows no value when it was encrypted with another key: it must not hide the list, from which it can be set again. */
function textOf(box: Buffer): string {
  try {
    return decrypt(box)
  } catch {
    return ''
  }
}
