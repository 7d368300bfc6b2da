import { Flag, IdOf, Paging, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

const flag = (description: string) => Type.Optional(Flag(description))

export const ProjectListQuery = Type.Object({
  ...Paging,
  archived: flag('true: only archived projects; false: only others; default false'),
  visibility: Type.Optional(
    Type.Enum(['public', 'internal', 'private'], {
      title: 'Visibility',
      description: 'only projects with this visibility'
    })
  ),
  order_by: Type.Optional(
    Type.Enum(['id', 'name', 'path', 'created_at', 'updated_at', 'last_activity_at'], {
      title: 'ProjectOrder',
      description: 'the sort key of the list; default created_at'
    })
  ),
  sort: Type.Optional(
    Type.Enum(['asc', 'desc'], { title: 'SortDirection', description: 'ascending or descending; default desc' })
  ),
  search: Type.Optional(Text('a text in the name, path or description', { maxLength: 255 })),
  simple: flag('true: only the id, names, paths and URLs of each project')
})
export type ProjectListQuery = Static<typeof ProjectListQuery>

/** The settings of a project: SETTINGS in the requirement. */
const settings = {
  description: Type.Optional(Text('the description of the project', { maxLength: 2000 })),
  issues_enabled: flag('whether it has issues'),
  merge_requests_enabled: flag('whether it has merge requests'),
  builds_enabled: flag('whether it has pipelines and builds'),
  wiki_enabled: flag('whether it has a wiki'),
  snippets_enabled: flag('whether it has snippets'),
  container_registry_enabled: flag('whether it has a container registry'),
  lfs_enabled: flag('whether it accepts git LFS'),
  shared_runners_enabled: flag('whether shared runners run its builds'),
  public: flag('true is the visibility level 20, false is 0'),
  visibility_level: Type.Optional(
    Type.Enum([0, 10, 20], {
      title: 'VisibilityLevel',
      description: 'private (0), internal (10) or public (20); the default depends on the settings'
    })
  ),
  public_builds: flag('whether everybody who can see the project can see its builds'),
  request_access_enabled: flag('whether users may request access'),
  only_allow_merge_if_build_succeeds: flag('whether a merge needs a successful build'),
  only_allow_merge_if_all_discussions_are_resolved: flag('whether a merge needs all discussions resolved')
}

const named = {
  name: Text('the display name', { minLength: 1, maxLength: 255 }),
  path: Type.Optional(Text('the last part of the path; derived from the name without it', { maxLength: 255 })),
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
    default_branch: Type.Optional(Text('the branch of a clone of the empty project', { maxLength: 244 })),
    ...settings
  },
  { title: 'UserProjectBody', description: 'A new project of another user.' }
)
export type UserProjectBody = Static<typeof UserProjectBody>

export const ProjectChange = Type.Object(
  {
    name: Type.Optional(Text('the display name', { maxLength: 255 })),
    path: Type.Optional(Text('the last part of the path; the old path redirects here', { maxLength: 255 })),
    default_branch: Type.Optional(Text('a branch of the repository', { maxLength: 244 })),
    ...settings
  },
  { title: 'ProjectChange', description: 'The new attributes of a project: at least one.' }
)
export type ProjectChange = Static<typeof ProjectChange>

export const CountedListQuery = Type.Object({
  ...ProjectListQuery.properties,
  statistics: flag('true: include the counts and sizes of each project')
})

export const SearchParams = Type.Object({
  query: Text('a text in the name, path or description', { minLength: 1, maxLength: 255 })
})

export const UserIdParams = Type.Object({ user_id: Text('the id of the user', { maxLength: 255 }) })

export const ProjectUsersQuery = Type.Object({
  ...Paging,
  search: Type.Optional(Text('a text in the name or username', { maxLength: 255 }))
})
export type ProjectUsersQuery = Static<typeof ProjectUsersQuery>
