import { Paging, projectParam, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

/** Bytes of a value. Not specified: values are for passwords and keys, and every build gets all of them. */
export const LONGEST_VALUE = 65_536

const key = Text('the name: letters a-z, digits and `_`')
const value = Text(`the value, at most ${LONGEST_VALUE} bytes`)

// The rule checks the key, so that a wrong one is an error of the record.
export const VariableParams = Type.Object({
  ...projectParam,
  key: Text('the name of the variable', { maxLength: 1024 })
})
export const VariableListQuery = Type.Object(Paging)
export const VariableBody = Type.Object({ key, value }, { title: 'VariableBody', description: 'A new variable.' })
export type VariableBody = Static<typeof VariableBody>
export const VariableChange = Type.Object(
  { value },
  { title: 'VariableChange', description: 'The new value of a variable.' }
)
export type VariableChange = Static<typeof VariableChange>
