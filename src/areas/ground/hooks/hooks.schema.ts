import { Flag, IdOf, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

const flag = (description: string) => Type.Optional(Flag(description))

export const HookParams = Type.Object({ id: IdOf('the hook') })

export const HookBody = Type.Object(
  {
    url: Text('the http or https URL that is called', { minLength: 1, maxLength: 2000 }),
    token: Type.Optional(Text('a secret that is sent with every delivery', { maxLength: 500 })),
    push_events: flag('whether it receives pushes; default true'),
    tag_push_events: flag('whether it receives pushes of tags; default false'),
    note_events: flag('whether it receives events of comments; default false'),
    issues_events: flag('whether it receives events of issues; default false'),
    merge_requests_events: flag('whether it receives events of merge requests; default false'),
    enable_ssl_verification: flag('whether the certificate of the receiver is verified; default true')
  },
  { title: 'SystemHookBody', description: 'A new system hook.' }
)
export type HookBody = Static<typeof HookBody>
