import { SCOPES } from '../../../access/scopes.js'
import { Flag, IdOf, Paging, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

export const ApplicationParams = Type.Object({ id: IdOf('the application') })
export const ApplicationListQuery = Type.Object(Paging)

export const ApplicationBody = Type.Object(
  {
    name: Text('the name that users see when the application requests access', { minLength: 1, maxLength: 255 }),
    redirect_uri: Text('where users are sent with the code; several URIs are separated by white space', {
      minLength: 1,
      maxLength: 20_000
    }),
    scopes: Type.Optional(
      Type.Array(Type.Enum(SCOPES, { title: 'Scope', description: 'what a token gives access to' }), {
        minItems: 1,
        maxItems: 10,
        description: 'the scopes that its tokens may have; default api'
      })
    ),
    confidential: Type.Optional(
      Flag(
        'false for an application that cannot keep its secret, such as one on a phone: it must use PKCE; default true'
      )
    )
  },
  { title: 'ApplicationBody', description: 'A new OAuth application.' }
)
export type ApplicationBody = Static<typeof ApplicationBody>
