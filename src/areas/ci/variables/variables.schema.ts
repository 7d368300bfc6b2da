import { Flag, Paging, projectParam, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

/** Bytes of a value. Not specified: values are for passwords and keys, and every build gets all of them. */
export const LONGEST_VALUE = 65_536

const key = Text('the name: letters a-z, digits and `_`')
const value = Text(`the value, at most ${LONGEST_VALUE} bytes`)
const settings = {
  masked: Type.Optional(
    Flag('whether traces hide the value; by default those of at least 8 characters without white space do')
  ),
  protected: Type.Optional(Flag('whether only builds of protected branches get it; default false')),
  environment_scope: Type.Optional(
    Text('the environment whose builds get it; `*` stands for any characters; default `*`: all builds')
  )
}
/** Several variables may have one key, if their scopes differ. */
const filter = Type.Optional(
  Type.Object(
    { environment_scope: Type.Optional(Text('the scope of the variable', { maxLength: 255 })) },
    { description: 'which variable is meant, when several with different scopes have the key' }
  )
)

// The rule checks the key, so that a wrong one is an error of the record.
export const VariableParams = Type.Object({
  ...projectParam,
  key: Text('the name of the variable', { maxLength: 1024 })
})
export const VariableListQuery = Type.Object(Paging)
export const VariableQuery = Type.Object({ filter })
export const VariableBody = Type.Object(
  { key, value, ...settings },
  { title: 'VariableBody', description: 'A new variable.' }
)
export type VariableBody = Static<typeof VariableBody>
export const VariableChange = Type.Object(
  { value, ...settings, filter },
  { title: 'VariableChange', description: 'The new value of a variable. Settings that are not given stay.' }
)
export type VariableChange = Static<typeof VariableChange>
