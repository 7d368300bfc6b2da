// "Build variable".
import { Undecryptable } from '../../../errors.js'
import { Flag, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { decryptNamed } from '../../../secrets.js'
import { isMasked } from './hidden-values.js'
import type { VariableRow } from './variables.queries.js'

const fields = {
  key: Text('the name'),
  value: Text('the value'),
  masked: Flag('whether traces hide the value'),
  protected: Flag('whether only builds of protected branches get it'),
  environment_scope: Text('the environment whose builds get it; `*` stands for any characters')
}
export const Variable = Type.Object(fields, {
  title: 'Variable',
  description: 'A value in the environment of builds of the project.'
})
export const RemovedVariable = Type.Object(
  { ...fields, value: Type.Optional(fields.value) },
  { title: 'RemovedVariable', description: 'A removed variable. It has no value if that cannot be decrypted.' }
)

/** Throws Undecryptable: an empty value would look like a real one. */
export function viewVariable({ name, value_encrypted: box, masked, ...row }: VariableRow) {
  const value = decryptNamed(`variable ${name}`, box)
  return {
    key: name,
    value,
    masked: isMasked(masked, value),
    protected: row.protected === 1,
    environment_scope: row.environment_scope
  }
}

/** A removed variable has no value when that cannot be decrypted. */
export function viewRemoved(variable: VariableRow) {
  try {
    return viewVariable(variable)
  } catch (error) {
    if (!(error instanceof Undecryptable)) throw error
    const { name: key, masked, environment_scope } = variable
    return { key, masked: masked !== 0, protected: variable.protected === 1, environment_scope }
  }
}
