// "Build variable".
import { Flag, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { decryptNamed } from '../../../secrets.js'
import { masksByDefault } from './hidden-values.js'
import type { VariableRow } from './variables.queries.js'

export const Variable = Type.Object(
  {
    key: Text('the name'),
    value: Text('the value'),
    masked: Flag('whether traces hide the value'),
    protected: Flag('whether only builds of protected branches get it'),
    environment_scope: Text('the environment whose builds get it; `*` stands for any characters')
  },
  { title: 'Variable', description: 'A value in the environment of builds of the project.' }
)

/** Throws Undecryptable: an empty value would look like a real one. */
export function viewVariable({ name, value_encrypted: box, masked, ...row }: VariableRow) {
  const value = decryptNamed(`variable ${name}`, box)
  return {
    key: name,
    value,
    masked: masked === null ? masksByDefault(value) : masked === 1,
    protected: row.protected === 1,
    environment_scope: row.environment_scope
  }
}
