import { Flag, IdOf, Paging, Text } from '../../lib/schema.js'
import { type Static, Type } from '../../lib/type.js'

const flag = (description: string) => Type.Optional(Flag(description))

export const ProjectListQuery = Type.Object({
  ...Paging,
  archived: flag('true: only archived projects, else only others; default false'),
  visibility: Type.Optional(
    Type.Enum(['public', 'internal', 'private'], {
      title: 'Visibility',
      description: 'only projects of that visibility'
    })
  ),
  order_by: Type.Optional(
    Type.Enum(['id', 'name', 'path', 'created_at', 'updated_at', 'last_activity_at'], {
      title: 'ProjectOrder',
      description: 'what the list is sorted by; default created_at'
    })
  ),
  sort: Type.Optional(
    Type.Enum(['asc', 'desc'], { title: 'SortDirection', description: 'ascending or descending; default desc' })
  ),
  search: Type.Optional(Text('text that stands in the name, path or description', { maxLength: 255 })),
  simple: flag('true: only the id, names, paths and URLs of each project')
})
export type ProjectListQuery = Static<typeof ProjectListQuery>

/** The settings of a project: SETTINGS in the requirement. */
const settings = {
  description: Type.Optional(Text('what the project is about', { maxLength: 2000 })),
  issues_enabled: flag('whether it has issues'),
  merge_requests_enabled: flag('whether it has merge requests'),
  builds_enabled: flag('whether it has pipelines and builds'),
  wiki_enabled: flag('whether it has a wiki'),
  snippets_enabled: flag('whether it has snippets'),
  container_registry_enabled: flag('whether it has a container registry'),
  lfs_enabled: flag('whether it takes large files by git LFS'),
  shared_runners_enabled: flag('whether shared runners take its builds'),
  public: flag('true is the visibility level 20, false is 0'),
  visibility_level: Type.Optional(
    Type.Enum([0, 10, 20], {
      title: 'VisibilityLevel',
      description: 'private (0), internal (10) or public (20); default by the settings'
    })
  ),
  public_builds: flag('whether all who can see the project can see its builds'),
  request_access_enabled: flag('whether users may ask to become members'),
  only_allow_merge_if_build_succeeds: flag('whether merge requests need a successful build'),
  only_allow_merge_if_all_discussions_are_resolved: flag('whether merge requests need all discussions resolved')
}

const named = {
  name: Text('the name that people read', { minLength: 1, maxLength: 255 }),
  path: Type.Optional(Text('the last part of the path; made from the name without it', { maxLength: 255 })),
  namespace_id: Type.Optional(IdOf('the namespace that owns the project; your own without it')),
  import_url: Type.Optional(
    Text('a URL (http, https or git) from which a job fetches branches and tags', { maxLength: 2000 })
  )
}

export const ProjectBody = Type.Object(
  { ...named, ...settings },
  { title: 'ProjectBody', description: 'A new project.' }
)
export type ProjectBody = Static<typeof ProjectBody>

export const UserProjectBody = Type.Object(
  {
    ...named,
    default_branch: Type.Optional(Text('the branch that a clone of the empty project is on', { maxLength: 244 })),
    ...settings
  },
  { title: 'UserProjectBody', description: 'A new project of another user.' }
)
export type UserProjectBody = Static<typeof UserProjectBody>

export const ProjectChange = Type.Object(
  {
    name: Type.Optional(Text('the name that people read', { maxLength: 255 })),
    path: Type.Optional(Text('the last part of the path; the old one goes on to lead here', { maxLength: 255 })),
    default_branch: Type.Optional(Text('a branch of the repository', { maxLength: 244 })),
    ...settings
  },
  { title: 'ProjectChange', description: 'The attributes of a project that change: one at least.' }
)
export type ProjectChange = Static<typeof ProjectChange>

export const CountedListQuery = Type.Object({
  ...ProjectListQuery.properties,
  statistics: flag('true: with the counts and sizes of each project')
})

export const SearchParams = Type.Object({
  query: Text('text that stands in the name, path or description', { minLength: 1, maxLength: 255 })
})

export const UserIdParams = Type.Object({ user_id: Text('the id of the user', { maxLength: 255 }) })

export const ProjectUsersQuery = Type.Object({
  ...Paging,
  search: Type.Optional(Text('text that stands in the name or username', { maxLength: 255 }))
})
export type ProjectUsersQuery = Static<typeof ProjectUsersQuery>
