// The record "Project hook". It never contains the token.
import type { Hook } from '../../../db/models/index.js'
import { Flag, IdOf, Moment, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { withoutPassword } from '../../../webhooks/url.js'

export const ProjectHook = Type.Object(
  {
    id: IdOf('the hook'),
    url: Text('the URL that is called, with `redacted` in place of a password'),
    created_at: Moment('when it was created'),
    push_events: Flag('whether it receives pushes to branches'),
    tag_push_events: Flag('whether it receives pushes of tags'),
    enable_ssl_verification: Flag('whether the certificate of the receiver is verified'),
    project_id: IdOf('the project'),
    issues_events: Flag('whether it receives events of issues'),
    merge_requests_events: Flag('whether it receives events of merge requests'),
    note_events: Flag('whether it receives events of comments'),
    build_events: Flag('whether it receives events of builds'),
    pipeline_events: Flag('whether it receives events of pipelines'),
    wiki_page_events: Flag('whether it receives events of pages of the wiki'),
    enabled: Type.Optional(Flag('false for a disabled hook, which receives nothing; otherwise absent'))
  },
  { title: 'ProjectHook', description: 'A URL that receives the events of a project.' }
)

export const viewProjectHook = (hook: Hook) => ({
  id: hook.id,
  url: withoutPassword(hook.url),
  created_at: hook.createdAt,
  push_events: hook.pushEvents,
  tag_push_events: hook.tagPushEvents,
  enable_ssl_verification: hook.enableSslVerification,
  project_id: hook.projectId ?? 0,
  issues_events: hook.issuesEvents,
  merge_requests_events: hook.mergeRequestsEvents,
  note_events: hook.noteEvents,
  build_events: hook.buildEvents,
  pipeline_events: hook.pipelineEvents,
  wiki_page_events: hook.wikiPageEvents,
  // Not specified: API v3 has no disabled hooks.
  enabled: hook.enabled ? undefined : false
})
