import { Flag, IdOf, Paging, projectParam, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

const flag = (description: string) => Type.Optional(Flag(description))

export const ProjectHookParams = Type.Object({ ...projectParam, hook_id: IdOf('the hook') })
export const ProjectHookListQuery = Type.Object(Paging)

export const ProjectHookBody = Type.Object(
  {
    url: Text('the http or https URL that is called'),
    token: Type.Optional(
      Text('a secret that is sent with every delivery; an empty one removes it', { maxLength: 500 })
    ),
    push_events: flag('whether it receives pushes to branches; default true'),
    tag_push_events: flag('whether it receives pushes of tags; default false'),
    issues_events: flag('whether it receives events of issues; default false'),
    merge_requests_events: flag('whether it receives events of merge requests; default false'),
    note_events: flag('whether it receives events of comments; default false'),
    build_events: flag('whether it receives events of builds; default false'),
    pipeline_events: flag('whether it receives events of pipelines; default false'),
    wiki_page_events: flag('whether it receives events of pages of the wiki; default false'),
    enable_ssl_verification: flag('whether the certificate of the receiver is verified; default true'),
    enabled: flag('whether it receives anything; default true. Hooks of an imported project begin with false')
  },
  { title: 'ProjectHookBody', description: 'A hook of a project. A change keeps the attributes that it does not name.' }
)
export type ProjectHookBody = Static<typeof ProjectHookBody>
