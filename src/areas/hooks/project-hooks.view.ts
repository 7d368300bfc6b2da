// The record "Project hook". It never contains the token.
import type { Hook } from '../../db/models/index.js'
import { Flag, IdOf, Moment, Text } from '../../lib/schema.js'
import { Type } from '../../lib/type.js'
import { withoutPassword } from '../../webhooks/url.js'

export const ProjectHook = Type.Object(
  {
    id: IdOf('the hook'),
    url: Text('the URL that is called, with `redacted` in place of a password'),
    created_at: Moment('when it was made'),
    push_events: Flag('whether it is called for pushes to branches'),
    tag_push_events: Flag('whether it is called for tags'),
    enable_ssl_verification: Flag('whether the certificate of the receiver is checked'),
    project_id: IdOf('the project'),
    issues_events: Flag('whether it is called for issues'),
    merge_requests_events: Flag('whether it is called for merge requests'),
    note_events: Flag('whether it is called for comments'),
    build_events: Flag('whether it is called for builds'),
    pipeline_events: Flag('whether it is called for pipelines'),
    wiki_page_events: Flag('whether it is called for pages of the wiki')
  },
  { title: 'ProjectHook', description: 'A URL that is called when something happens in a project.' }
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
  wiki_page_events: hook.wikiPageEvents
})
