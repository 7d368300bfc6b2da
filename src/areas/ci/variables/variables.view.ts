// "Build variable".
import { Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { decryptNamed } from '../../../secrets.js'
import type { VariableRow } from './variables.queries.js'

export const Variable = Type.Object(
  { key: Text('the name'), value: Text('the value') },
  { title: 'Variable', description: 'A value in the environment of every build of the project.' }
)

/** Throws Undecryptable: an empty value would look like a real one. */
export const viewVariable = ({ name, value_encrypted: box }: VariableRow) => ({
  key: name,
  value: decryptNamed(`variable ${name}`, box)
})
