import { type Static, Type } from 'typebox'
import { Id, Paging } from '../../lib/schema.js'

const flag = Type.Optional(Type.Boolean())

export const ProjectListQuery = Type.Object({
  ...Paging,
  archived: flag,
  visibility: Type.Optional(Type.Enum(['public', 'internal', 'private'])),
  order_by: Type.Optional(Type.Enum(['id', 'name', 'path', 'created_at', 'updated_at', 'last_activity_at'])),
  sort: Type.Optional(Type.Enum(['asc', 'desc'])),
  search: Type.Optional(Type.String({ maxLength: 255 })),
  simple: flag
})
export type ProjectListQuery = Static<typeof ProjectListQuery>

export const ProjectBody = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 255 }),
  path: Type.Optional(Type.String({ maxLength: 255 })),
  namespace_id: Type.Optional(Id),
  description: Type.Optional(Type.String({ maxLength: 2000 })),
  issues_enabled: flag,
  merge_requests_enabled: flag,
  builds_enabled: flag,
  wiki_enabled: flag,
  snippets_enabled: flag,
  container_registry_enabled: flag,
  lfs_enabled: flag,
  shared_runners_enabled: flag,
  public: flag,
  visibility_level: Type.Optional(Type.Enum([0, 10, 20])),
  public_builds: flag,
  request_access_enabled: flag,
  only_allow_merge_if_build_succeeds: flag,
  only_allow_merge_if_all_discussions_are_resolved: flag
})
export type ProjectBody = Static<typeof ProjectBody>
