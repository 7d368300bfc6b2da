import { Flag, IdOf, Integer, Paging, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'
import { READERS } from '../runs/readers.js'

const MOST_PEOPLE = 10_000
const MOST_NAMESPACES = 1000
const MOST_PROJECTS = 1000

const migration = { id: IdOf('the migration') }
export const MigrationParams = Type.Object(migration)
export const PlaceholderParams = Type.Object({
  ...migration,
  placeholder_id: IdOf('the placeholder, which is that of its user')
})
export const MigrationListQuery = Type.Object(Paging)

const names = (what: string, most: number, description: string) =>
  Type.Record(Type.String({ minLength: 1, maxLength: 1000 }), Text(what, { minLength: 1, maxLength: 255 }), {
    maxProperties: most,
    description
  })

export const NewMigration = Type.Object(
  {
    name: Text('a name with lowercase letters, digits, `_` and `-`', { minLength: 1, maxLength: 50 }),
    kind: Type.Enum(Object.keys(READERS), { title: 'MigrationKind', description: 'the kind of forge' }),
    url: Text('the URL of the forge, as people open it in a browser', { minLength: 1, maxLength: 2000 }),
    token: Text('an access token of the forge, which is never shown again', { minLength: 1, maxLength: 1000 }),
    map: Type.Optional(
      names(
        'the namespace here',
        MOST_NAMESPACES,
        'namespaces of the forge, and the existing ones here that get their projects'
      )
    ),
    people: Type.Optional(
      names('the username here', MOST_PEOPLE, 'usernames of the forge, and those here of the same people')
    ),
    rate: Type.Optional(Integer('requests in a second, at most; default 50', { minimum: 1, maximum: 1000 })),
    keys: Type.Optional(Flag('whether matched users get the SSH keys that they have there; default false')),
    commit_comments: Type.Optional(
      Flag('whether comments on commits are read from GitLab, with a request for each commit; default false')
    ),
    trust_addresses: Type.Optional(
      Flag(
        'whether mail addresses match people also where the forge does not say who has confirmed them; default false: anybody there could then get the records of others here'
      )
    )
  },
  { title: 'NewMigration', description: 'A forge to move projects from. Nothing is read yet.' }
)
export type NewMigration = Static<typeof NewMigration>

const projects = Type.Optional(
  Type.Array(Text('the path of a project at the forge', { minLength: 1, maxLength: 1000 }), {
    // An empty list is a mistake of the client: it must not bring everything.
    minItems: 1,
    maxItems: MOST_PROJECTS,
    description: 'only these projects; by default all that the token shows'
  })
)
export const PlanBody = Type.Object(
  { projects, quick: Type.Optional(Flag('only asks for counts, and reads nothing else; default false')) },
  { title: 'MigrationPlan', description: 'What to plan.' }
)
export const RunBody = Type.Object(
  {
    projects,
    overwrite: Type.Optional(
      Flag(
        'replaces projects also when somebody has changed them here, or another migration has brought them; default false'
      )
    )
  },
  { title: 'MigrationRun', description: 'What to bring.' }
)
export const VerifyBody = Type.Object({ projects }, { title: 'MigrationVerification', description: 'What to compare.' })
export const AssignConfirmedBody = Type.Object(
  {},
  {
    title: 'ConfirmedPlaceholders',
    description:
      'Every placeholder of this forge goes to the user who has confirmed the address that the forge has verified. A run does that, too.'
  }
)
export type WorkOptions = Static<typeof PlanBody> & Static<typeof RunBody>

export const AssignBody = Type.Object(
  { user: Text('the user who gets the records: username, mail address or id', { minLength: 1, maxLength: 255 }) },
  { title: 'PlaceholderAssignment', description: 'Whose records these are.' }
)
