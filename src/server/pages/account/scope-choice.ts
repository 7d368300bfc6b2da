import { SCOPES, type Scope } from '../../../access/scopes.js'
import { Type } from '../../../lib/type.js'

export const WORDS: { readonly [Name in Scope]: string } = {
  api: 'everything that you may do, through the API and git',
  read_user: 'read your account and other users'
}

/** The choice of scopes in a form. A form in which nothing is chosen must not mean all scopes. */
export const scopeChoice = () => SCOPES.map(name => ({ name, means: WORDS[name], checked: name === 'api' }))
export const ChosenScopes = Type.Array(Type.Enum(SCOPES), { minItems: 1, maxItems: 10 })
